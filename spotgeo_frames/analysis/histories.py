"""object_summary(): in which of its frames each true object was found, and in which it was missed."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..support.errors import InputError
from ..support.keys import grouped, row_keys
from ..support.pandas_versions import TEXT
from ..tables.checks import check_matches
from ..tables.kinds import same_kind_as
from ..tables.messages import missing
from ..tables.schema import FN, TP, measure_of
from ..tables.table import Table

HISTORY_TYPE = pd.CategoricalDtype(["always found", "found in part", "flickers", "never found"])


@same_kind_as("matches")
def object_summary(matches: Table) -> pd.DataFrame:
    """Summarizes the history of each true object: in which of its frames it was found.

    Parameters
    ----------
    matches
        A match table. Its `truth_object` has to name the same object in all frames of a sequence, as the truth of the
        spotGEO challenge does.

    Returns
    -------
    DataFrame of the match table's kind with one row for each true object, sorted by `sequence`, (`joint`,) `object`:

    n_frames, n_found: the count of frames that have the object, and of those in which it is a true positive.
    found_share: n_found / n_frames.
    pattern: one character for each of the object's frames, in order: 1 where it was found, 0 where it was missed.
    longest_gap: the most frames in a row in which it was missed, among its own frames.
    n_changes: how often it changes from found to missed or back.
    history: "always found", "never found", "found in part" (one change) or "flickers" (two changes or more).
    mean_distance: px, the mean over the frames in which it was found, null if it never was; `mean_similarity` instead
        after matching by similarity.

    Raises
    ------
    InputError: `matches` is no match table, its column `truth_object` is missing, or an object occurs in a frame more
        than once.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> frames = [1, 2, 3, 4]
    >>> truth = pd.DataFrame({"sequence": 1, "frame": frames, "object": 1, "x": [10.0, 20.0, 30.0, 40.0], "y": 5.0})
    >>> matches = sf.match(truth, truth[truth["frame"] != 3])
    >>> sf.object_summary(matches)[["sequence", "object", "n_found", "pattern", "longest_gap", "history"]]
       sequence  object  n_found pattern  longest_gap   history
    0         1       1        3    1101            1  flickers
    """
    table = check_matches(matches)
    if "truth_object" not in table:
        raise InputError(missing("object_summary: matches", "truth_object", table.columns, "match() adds it"))
    key = [column for column in ("sequence", "joint", "truth_object") if column in table]
    rows, of_row, first = _object_rows(table, key)
    found = table["outcome"].array.codes[rows] == TP
    n_frames, n_found = np.bincount(of_row), np.bincount(of_row, found)
    changes = np.diff(found, prepend=False) & (np.diff(of_row, prepend=-1) == 0)
    n_changes = np.bincount(of_row, changes).astype(np.int64)
    measure = measure_of(table)
    near = np.nan_to_num(table[measure].to_numpy(np.float64)[rows])
    with np.errstate(invalid="ignore"):
        mean = np.bincount(of_row, near) / n_found
    history = np.select([n_found == n_frames, n_found == 0, n_changes > 1], [0, 3, 2], 1)
    answer = table[key].take(rows[first]).reset_index(drop=True).rename(columns={"truth_object": "object"})
    answer = answer.assign(
        n_frames=n_frames,
        n_found=n_found.astype(np.int64),
        found_share=n_found / n_frames,
        pattern=_patterns(found, first),
        longest_gap=_longest_gaps(found, of_row, len(first)),
        n_changes=n_changes,
        history=pd.Categorical.from_codes(history, dtype=HISTORY_TYPE),
        **{f"mean_{measure}": mean},
    )
    answer.attrs = table.attrs
    return answer


def _object_rows(table: pd.DataFrame, key: list[str]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rows of truths, sorted by object and frame; the object of each of these, and where each object begins.

    Raises InputError if an object occurs in a frame more than once.
    """
    rows = np.flatnonzero(np.isin(table["outcome"].array.codes, [TP, FN]))
    truths = table[[*key, "frame"]].take(rows)
    keys = row_keys(truths, [*key, "frame"])
    order = np.argsort(keys, kind="stable")
    if np.any(np.diff(keys[order]) == 0):
        problem = "column truth_object: a name is in a frame more than once; it has to be unique within its frame"
        raise InputError(f"object_summary: matches: {problem}")
    return rows[order], *grouped(row_keys(truths, key)[order])


def _patterns(found: np.ndarray, first: np.ndarray) -> pd.Series:
    """Writes the pattern of each object, a string of 0 and 1; the rows of an object begin at its place in `first`."""
    marks = pa.array(["0", "1"]).take(pa.array(found.view(np.int8)))
    marks_of_objects = pa.LargeListArray.from_arrays(np.append(first, len(found)), marks)
    return pd.Series(pc.binary_join(marks_of_objects, ""), dtype=TEXT)


def _longest_gaps(found: np.ndarray, of_row: np.ndarray, n_objects: int) -> np.ndarray:
    """The longest run of misses of each object; `of_row` is the object of each row."""
    begins = np.flatnonzero((np.diff(of_row, prepend=-1) != 0) | (np.diff(found, prepend=False)))
    lengths = np.diff(begins, append=len(found)) * ~found[begins]
    longest = np.zeros(n_objects, np.int64)
    np.maximum.at(longest, of_row[begins], lengths)
    return longest
