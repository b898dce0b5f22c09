from .checking import check as check
