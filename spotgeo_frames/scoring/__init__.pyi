from .own_metrics import metric as metric
from .ranking import leaderboard as leaderboard
from .summary import summarize as summarize
