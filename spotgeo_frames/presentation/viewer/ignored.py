"""Objects that count nowhere: crowds and the predictions that they explain, which are no rows of a match table."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ...matching.crowds import crowd_flags
from ...support.arrays import frame_keys, ordinals, pack
from ...tables.columns import columns_of
from ...tables.schema import FN, FP, FRAME_KEY, OBJECT_KEY, OUTCOMES, SIDE_PREFIXES


def with_ignored(matches: pd.DataFrame, truth: pd.DataFrame, predictions: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """Match tables with rows for crowds and for predictions that have none, marked by a column `ignored`.

    `matches` are those of one or several submissions, with a column `submission`. `truth` and the `predictions` of each
    submission are the tables of objects that were matched; whole poses have their joints as columns. Frames that a
    match table does not have stay away. Without crowds the match tables are returned as they are.
    """
    is_crowd = crowd_flags(columns_of(truth)) if "crowd" in truth else np.zeros(len(truth), bool)
    if not is_crowd.any():
        return matches
    parts = [matches.assign(ignored=matches.get("ignored", False))]
    for name in matches["submission"].cat.categories:
        mine = matches[(matches["submission"] == name).to_numpy(bool)]
        sides = truth[is_crowd], predictions[name]
        for objects, prefix, outcome in zip(sides, SIDE_PREFIXES, (FN, FP), strict=True):
            rows = _rows(_unlisted(objects, mine, prefix), mine, prefix)
            parts.append(rows.assign(submission=name, outcome=OUTCOMES[outcome], ignored=True))
    together = pd.concat([part for part in parts if len(part)], ignore_index=True)
    answer = together[parts[0].columns].astype({name: matches[name].dtype for name in ("submission", "outcome")})
    answer.attrs = matches.attrs
    return answer


def _unlisted(objects: pd.DataFrame, matches: pd.DataFrame, prefix: str) -> pd.DataFrame:
    """The objects that are no rows of a match table, of those in its frames."""
    keys, known = frame_keys([objects, matches])
    listed = matches[matches[f"{prefix}object"].notna()].rename(columns={f"{prefix}object": "object"})
    columns = [name for name in (*OBJECT_KEY, "joint") if name in objects]
    numbered = [ordinals([objects[name], listed[name].astype(objects[name].dtype)]) for name in columns]
    spans = [span for _, span in numbered]
    mine, others = (pack([codes[side] for codes, _ in numbered], spans) for side in (0, 1))
    return objects[np.isin(keys, known) & ~np.isin(mine, others)]


def _rows(objects: pd.DataFrame, matches: pd.DataFrame, prefix: str) -> pd.DataFrame:
    """Objects with the names of columns that a match table has."""
    key = [name for name in (*FRAME_KEY, "joint") if name in objects]
    carried = {name: f"{prefix}{name}" for name in map(str, objects) if f"{prefix}{name}" in matches}
    return objects[[*key, *carried]].rename(columns=carried)
