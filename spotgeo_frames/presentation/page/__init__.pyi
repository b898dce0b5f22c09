from .asked import LONGEST_NOTE as LONGEST_NOTE
from .asked import Format as Format
from .assertions import assert_not_worse as assert_not_worse
from .build import check_beforehand as check_beforehand
from .build import report as report
from .of_matches import objects_of as objects_of
