from .build import check_beforehand as check_beforehand
from .build import report as report
