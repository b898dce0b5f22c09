"""Track metrics, one module each: pure functions of pairs and identities.

Each module computes sums of each sequence, which can be added up over sequences in any order, and the metrics that
follow from the sums.
"""

from collections.abc import Mapping

import numpy as np

# Named sums, arrays with one value a sequence.
NamedSums = Mapping[str, np.ndarray]
