"""What pandas 2.3 does differently from pandas 3, where tests compare with pandas itself."""

import numpy as np
import pandas as pd

PANDAS_3 = int(pd.__version__.partition(".")[0]) >= 3

# The type of text, which pandas 2.3 does not mean by "str".
TEXT = pd.StringDtype(na_value=np.nan)


def quantile_bins(values: pd.Series, bins: int) -> pd.Series:
    """`pandas.qcut` as pandas 3 has it: it moves shares that are no exact floats, such as 1/7, one float up.

    pandas 2.3 makes percentages of them as well, which rounds once more.
    """
    if PANDAS_3:
        return pd.qcut(values, bins, duplicates="drop")
    shares = np.linspace(0, 1, bins + 1)
    moved = np.where(bins * shares != np.arange(bins + 1), np.nextafter(shares, 1), shares)
    edges = np.quantile(values.dropna().to_numpy(np.float64), moved)
    return pd.cut(values, pd.Index(edges), include_lowest=True, duplicates="drop")
