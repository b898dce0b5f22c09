from .accumulator import Accumulator as Accumulator
from .datasets import score_dataset as score_dataset
from .datasets import track_dataset as track_dataset
from .sorted_copies import repartition_by_sequence as repartition_by_sequence
from .sum_tables import combine as combine
from .sum_tables import sums as sums
