from .asked import LONGEST_NOTE as LONGEST_NOTE
from .asked import Format as Format
from .build import check_beforehand as check_beforehand
from .build import report as report
