"""object_summary(): how each true object fares from frame to frame."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..support.errors import InputError
from ..support.keys import distinct, ordinals, pack, positions
from ..tables.arrow import Table
from ..tables.schema import FN, TP, check_matches, measure_of

HISTORY_TYPE = pd.CategoricalDtype(["always found", "found in part", "flickers", "never found"])


def object_summary(matches: Table) -> pd.DataFrame:
    """One row a true object: when it was found, and how often it was lost.

    Parameters
    ----------
    matches
        A match table whose `truth_object` names an object through its sequence, as the truth of the spotGEO challenge
        does.

    Returns
    -------
    DataFrame sorted by `sequence`, (`joint`,) `object`: `n_frames`, in how many frames the object is; `n_found`, in how
    many of them it is a true positive; `found_share`, n_found / n_frames; `pattern`, a character for each of its frames
    in order, 1 where it is found and 0 where it is missed; `longest_gap`, the most frames in a row in which it is
    missed; `n_changes`, how often it turns from found to missed or back; `history`: "always found", "never found",
    "flickers" (turns twice or more), or "found in part" (turns once); and `mean_distance` (px; `mean_similarity` where
    matching was by similarity), null where it is never found.

    Raises
    ------
    InputError: not a match table, a column `truth_object` that is missing, or an object that is in a frame more than
        once.

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
        raise InputError("match table: column truth_object is missing")
    outcome = table["outcome"].array.codes
    rows = np.flatnonzero((outcome == TP) | (outcome == FN))
    key = [column for column in ("sequence", "joint", "truth_object") if column in table]
    truths = table[[*key, "frame"]].take(rows)
    numbered = [ordinals([truths[column]]) for column in [*key, "frame"]]
    codes, spans = [some[0] for some, _ in numbered], [span for _, span in numbered]
    keys = pack(codes, spans)
    order = np.argsort(keys, kind="stable")
    if np.any(np.diff(keys[order]) == 0):
        raise InputError("match table: a true object is in a frame more than once; truth_object has to name objects")
    objects = pack(codes[:-1], spans[:-1])[order]
    values, first = distinct(objects)
    number = positions(objects, values, first)
    rows = rows[order]
    found = outcome[rows] == TP
    n_frames, n_found = np.bincount(number), np.bincount(number, found)
    turns = np.diff(found, prepend=False) & (np.diff(number, prepend=-1) == 0)
    n_changes = np.bincount(number, turns).astype(np.int64)
    measure = measure_of(table)
    near = np.nan_to_num(table[measure].to_numpy(np.float64)[rows])
    with np.errstate(invalid="ignore"):
        mean = np.bincount(number, near) / n_found
    history = np.select([n_found == n_frames, n_found == 0, n_changes > 1], [0, 3, 2], 1)
    answer = table[key].take(rows[first]).reset_index(drop=True).rename(columns={"truth_object": "object"})
    answer = answer.assign(
        n_frames=n_frames,
        n_found=n_found.astype(np.int64),
        found_share=n_found / n_frames,
        pattern=_patterns(found, first),
        longest_gap=_longest_gaps(found, number, len(first)),
        n_changes=n_changes,
        history=pd.Categorical.from_codes(history, dtype=HISTORY_TYPE),
        **{f"mean_{measure}": mean},
    )
    answer.attrs = dict(table.attrs)
    return answer


def _patterns(found: np.ndarray, first: np.ndarray) -> pd.Series:
    """The marks of each object as a string; objects begin at `first`."""
    marks = pa.array(["0", "1"]).take(pa.array(found.view(np.int8)))
    marks_of_objects = pa.LargeListArray.from_arrays(np.append(first, len(found)), marks)
    return pd.Series(pc.binary_join(marks_of_objects, ""), dtype="str")


def _longest_gaps(found: np.ndarray, number: np.ndarray, n_objects: int) -> np.ndarray:
    """The longest run of misses of each object."""
    begins = np.flatnonzero((np.diff(number, prepend=-1) != 0) | (np.diff(found, prepend=False)))
    lengths = np.diff(begins, append=len(found)) * ~found[begins]
    longest = np.zeros(n_objects, np.int64)
    np.maximum.at(longest, number[begins], lengths)
    return longest
