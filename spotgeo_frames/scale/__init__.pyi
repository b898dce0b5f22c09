from .combined_sums import combine as combine
from .sorted_copies import repartition_by_sequence as repartition_by_sequence
from .stream import score_dataset as score_dataset
from .stream import track_dataset as track_dataset
from .sum_tables import sums as sums
