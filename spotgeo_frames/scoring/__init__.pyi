from .ap.result import AveragePrecision as AveragePrecision
from .ap.result import average_precision as average_precision
from .flat_numbers import flat as flat
from .own_metrics import metric as metric
from .summary import summarize as summarize
