"""Objects that count nowhere: crowds and the predictions that they explain, which are no rows of a match table."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from ...support.keys import frame_keys
from ...tables.schema import FN, FP, FRAME_KEY, OUTCOMES, SIDE_PREFIXES


def with_ignored(
    matches: pd.DataFrame, truth: pd.DataFrame | None, predictions: Mapping[str, pd.DataFrame]
) -> pd.DataFrame:
    """Match tables with a row, `ignored`, for each of these objects, in the frames that a submission has.

    `matches` has a column `submission`. `truth` are the ignored truths (a table of objects; of whole poses with their
    joints as columns), and `predictions` the ignored predictions of each submission.
    """
    parts = [matches.assign(ignored=matches.get("ignored", False))]
    for name in matches["submission"].cat.categories:
        of_submission = matches[(matches["submission"] == name).to_numpy(bool)]
        sides = truth, predictions.get(name)
        for objects, prefix, outcome in zip(sides, SIDE_PREFIXES, (FN, FP), strict=True):
            if objects is not None:
                parts.append(_rows(objects, of_submission, prefix, outcome, str(name)))
    together = pd.concat([part for part in parts if len(part)] or parts[:1], ignore_index=True)
    kinds = {name: matches[name].dtype for name in ("submission", "outcome")}
    answer = together[parts[0].columns].astype(kinds)
    answer.attrs = matches.attrs
    return answer


def _rows(objects: pd.DataFrame, matches: pd.DataFrame, prefix: str, outcome: int, submission: str) -> pd.DataFrame:
    """The objects in the frames of a match table, as rows of it."""
    keys, known = frame_keys([objects, matches])
    of_object = objects[np.isin(keys, known)]
    own = [column for column in (*FRAME_KEY, "joint") if column in objects]
    rows = of_object[own].assign(submission=submission, outcome=OUTCOMES[outcome], ignored=True)
    others = {f"{prefix}{column}": of_object[column] for column in objects if f"{prefix}{column}" in matches}
    return rows.assign(**others)
