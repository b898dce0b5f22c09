from .ranking import leaderboard as leaderboard
from .summary import summarize as summarize
