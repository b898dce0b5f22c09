"""together(): the tables of several submissions as one, with a column `submission`."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ...matching.noted_rule import shared_notes
from ...support.pandas_tables import TEXT


def together(tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Concatenates the tables of submissions, with `submission` as the first column."""
    names = list(tables)
    # A column may be numeric in one submission and text in another; then it becomes text.
    mixed = [
        column
        for column in dict.fromkeys(str(column) for table in tables.values() for column in table)
        if len({table[column].dtype for table in tables.values() if column in table}) > 1
    ]
    parts = [
        table.assign(**{column: table[column].astype(TEXT) for column in mixed if column in table})
        for table in tables.values()
    ]
    answer = pd.concat(parts, ignore_index=True)
    codes = np.arange(len(names)).repeat([len(part) for part in parts])
    named = pd.Categorical.from_codes(codes, categories=pd.Index(names, dtype=TEXT))
    answer.insert(0, "submission", pd.Series(named, index=answer.index))
    answer.attrs = shared_notes(next(iter(tables.values())))
    return answer
