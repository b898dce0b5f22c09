"""Track metrics, one module each: pure functions over pairs and identities, whose parts add up over sequences.

Each module gives its parts, sums a sequence that can be added in any order, and the numbers that follow from them.
"""

from collections.abc import Mapping

import numpy as np

# Named sums, arrays with one value a sequence.
NamedSums = Mapping[str, np.ndarray]
