"""error_costs(): what each kind of error costs.

The cost of a kind follows TIDE (Bolya et al., 2020, doi:10.1007/978-3-030-58580-8_33): the change of a metric if all
errors of this kind were corrected and everything else stayed the same. The metrics of a match table follow from its
counts; tracks and poses are evaluated again.
"""

import numpy as np
import pandas as pd

from ...geometries import Measure
from ...scoring import AveragePrecision, match_sums, registry, row_counts
from ...support import InputError, pandas_tables
from ...tables import Table, checks, schema, table_kinds
from ...tracking import PoseResult, TrackResult
from .detection_costs import detection_costs
from .error_kinds import KIND_TYPE, KINDS, possible_kinds
from .track_costs import track_costs

# The metrics whose costs are computed.
COSTED = ["f1", "mse"]


@table_kinds.same_kind_as("x")
def error_costs(
    x: Table | TrackResult | PoseResult | AveragePrecision,
    *,
    similarity: str | Measure | None = None,
    tau: float | None = None,
    identity: str | None = None,
    distance: Measure | None = None,
) -> pd.DataFrame:
    """Computes the cost of each kind of error: the metrics if all errors of this kind, and no others, were corrected.

    In a match table, a corrected false alarm is removed, a corrected miss becomes a true positive with error 0, and a
    corrected pair of a mislocated miss and its false alarm becomes one true positive with error 0. Tracks and poses are
    corrected in their tables and evaluated again; see the notes.

    Parameters
    ----------
    x
        The table that `diagnose` returned, or rows of it; or what `track`, `pose` or `average_precision` returned.
    similarity, tau, identity, distance
        The options of `track`, and `identity` also of `pose`. Needed only where the result has lost its notes, as one
        of polars has; a similarity or distance that is a function is needed always. `tau` is in pixels or in the unit
        of `distance`, and without notes `identity` is "object".

    Returns
    -------
    DataFrame (of pandas, polars or pyarrow, as `x` is) with one row for each kind of error, also for those that do not
    occur, and a last row `all` for all kinds together: `kind`, `n_misses`, `n_false_alarms`, `f1` after the correction
    and `f1_gain` (its increase); after matching by distance also `mse` (px²) after the correction and `mse_gain` (px²,
    its decrease). The kinds `confused` and `confused_and_mislocated` are listed only if both sides have categories.

    Of tracks and poses also, before `all`, the rows `switch` and `gap`; after `n_false_alarms` the column `n_breaks`,
    how many switches and how many gaps there are; and after `f1` also `HOTA`, `IDF1` and `MOTA`, each with its gain.
    Here f1 is that of the match table; of poses, IDF1 is null, and MOTA is poseval's total mota as a share of 1. The
    misses of gaps are counted among the other kinds, too. A metric is null if there is nothing to count.

    Of average precision, the kinds are those of TIDE, which `diagnose` lists. Before `all` there are `all_misses`, with
    which no missed truth counts, and `all_false_alarms`, with which all of them come after the true positives. Counts
    are those at the lowest threshold of AP, which is 0.5 unless `thresholds` said otherwise. `AP50` and `AP` are what
    `average_precision` would give after the correction, each with its gain; for AP, the errors are corrected that there
    are at each of its thresholds, and AP50 is null where 0.5 is none of these. `dAP` is the gain as tidecv 1.0.1 has
    it, for comparison with published figures: percentage points of its own AP at the lowest threshold, which takes
    categories without truths for 0 where AP50 leaves them out.

    Raises
    ------
    InputError: `x` is no match table, its column `kind` is missing, or it holds other values than the kinds; or the
        rule of a result is not known, or its switches do not fit the identities.
    ValueError: a word is out of range, does not go with `x`, or is not that by which the result was made.

    Notes
    -----
    Sources: TIDE (Bolya et al., 2020, doi:10.1007/978-3-030-58580-8_33), whose costs are in average precision. There, a
    corrected false alarm is removed or, where it stands for a miss, becomes a true positive of the truth's category
    with its own score, and a corrected lost truth no longer counts. Nothing is matched again. A category of which
    nothing is left, right or wrong, is left out of the mean; if nothing is left of any, AP is 1.

    Tracks and poses are mended like this, poses joint by joint:

    - a false alarm is removed, and that of a mislocated pair moves onto its truth and keeps its identity;
    - any other miss gets a prediction with the truth's own geometry, under the identity with which the truth was last
      matched, else is first matched afterwards; where that is taken in the frame, or the truth is never matched, under
      a new one that is this truth's own;
    - `switch`: from that frame on the two identities are exchanged, switch by switch in frame order, each in the names
      as already mended;
    - `gap`: each missing frame between two found ones gets the truth's own geometry under the identity before, else the
      one after; where both are taken in that frame it stays missing;
    - `all`: every truth is found under one identity of its own, and nothing else is predicted. What is left are the
      distances or similarities of the true positives.

    Matching again may choose other pairs than before, so a correction can even cost something.

    Costs have no interval: they say what the errors in these sequences cost. `compare` says whether an improvement is
    more than chance.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [10.0, 90.0], "y": 5.0})
    >>> predictions = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [12.0, 75.0], "y": 5.0})
    >>> costs = sf.error_costs(sf.diagnose(sf.match(truth, predictions)))
    >>> costs.loc[costs["kind"].isin(["lost", "mislocated"]), ["kind", "n_misses", "n_false_alarms", "f1", "f1_gain"]]
             kind  n_misses  n_false_alarms   f1  f1_gain
    1        lost         0               0  0.5      0.0
    2  mislocated         1               1  1.0      0.5

    A dog and one of three cats are found. The detector takes the second cat for a dog and misses the third:

    >>> truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2, 3, 4], "x": [0.0, 30, 60, 90], "y": 0.0})
    >>> truth = truth.assign(w=9.0, h=9.0, category=["dog", "cat", "cat", "cat"])
    >>> found = truth.head(3).assign(category=["dog", "cat", "dog"], score=[0.7, 0.8, 0.9])
    >>> costs = sf.error_costs(sf.average_precision(truth, found))
    >>> costs.loc[costs["n_misses"] > 0, ["kind", "n_misses", "n_false_alarms", "AP50_gain"]].round(3)
             kind  n_misses  n_false_alarms  AP50_gain
    0        lost         1               0      0.084
    2    confused         1               1      0.413
    6  all_misses         2               0      0.332
    8         all         2               1      0.582

    The identity of the only track changes in the last of three frames:

    >>> truth = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3], "object": 7, "x": [0.0, 5.0, 9.0], "y": 0.0})
    >>> costs = sf.error_costs(sf.track(truth, truth.assign(object=[1, 1, 2])))
    >>> costs.loc[costs["kind"] == "switch", ["n_breaks", "f1", "HOTA", "HOTA_gain", "IDF1_gain"]].round(3)
       n_breaks   f1  HOTA  HOTA_gain  IDF1_gain
    6         1  1.0   1.0      0.255      0.333
    """
    if isinstance(x, TrackResult | PoseResult):
        return track_costs(x, identity, tau, similarity, distance)
    given = {"similarity": similarity, "tau": tau, "identity": identity, "distance": distance}
    named = [name for name, value in given.items() if value is not None]
    if named:
        raise ValueError(f"{named[0]} goes with what track() or pose() returned; leave it out")
    if isinstance(x, AveragePrecision):
        return detection_costs(x)
    return _match_costs(x)


def _match_costs(diagnosed: Table) -> pd.DataFrame:
    """The costs of the kinds in a table of `diagnose`, from its counts."""
    table = checks.check_matches(diagnosed)
    if "kind" not in table or not table["kind"].dropna().isin(KINDS).all():
        problem = "is missing" if "kind" not in table else f"holds others than {', '.join(KINDS)}"
        raise InputError(f"error_costs: column kind {problem}; pass what diagnose(), track() or pose() returned")
    outcome, kind = table["outcome"].array.codes, table["kind"].astype(KIND_TYPE).array.codes
    possible = [KINDS.index(name) for name in possible_kinds(table)]
    corrected = [kind == code for code in possible] + [kind >= 0]
    n_misses, n_alarms = (
        np.array([(outcome[rows] == missing).sum() for rows in corrected]) for missing in (schema.FN, schema.FP)
    )
    error = np.nan_to_num(table["squared_error"].to_numpy(np.float64))
    row_counts.warn_of_doubled(table, "error_costs", table_kinds.CALLER + 2)
    now = match_sums.row_sums(table, np.zeros(len(table), np.int64), 1)
    sums = {name: np.repeat(values, len(corrected)) for name, values in now.items()}
    sums["tp"] += n_misses
    sums["fn"] -= n_misses
    sums["fp"] -= n_alarms
    sums["squared_error"] -= [error[rows].sum() for rows in corrected]
    columns = {"kind": [*(KINDS[code] for code in possible), "all"], "n_misses": n_misses, "n_false_alarms": n_alarms}
    by_similarity = schema.measure_of(table) == "similarity"
    costed = registry.defined(COSTED, by_similarity)
    before, after = (registry.values_of(values, costed, by_similarity) for values in (now, sums))
    for name in costed:
        sign = 1 if registry.METRICS[name].higher_is_better else -1
        gain = sign * (after[name] - before[name]) + 0.0  # which makes -0.0, of no change, 0.0
        columns |= {name: after[name], f"{name}_gain": gain}
    answer = pd.DataFrame(columns).astype({"kind": pandas_tables.TEXT})
    answer.attrs = table.attrs
    return answer
