"""Which columns of a dataset are needed, and whether both sides fit together."""

from collections.abc import Collection, Mapping

from ..matching.rule import Rule
from ..matching.similarity import Measure
from ..support.errors import InputError
from ..tables.schema import FRAME_KEY
from .contents import Contents

POINTS = [*FRAME_KEY, "object", "x", "y"]

# How the match table calls the columns of each side.
PREFIXES = {"truth": "truth_", "predictions": "predicted_", "frames": "frame_"}

# What matching looks at where it is there.
OPTIONAL = ["joint", "visibility", "category", "w", "h"]


def required_columns(similarity: str | Measure | None) -> dict[str, list[str]]:
    """The columns that the files of each side have to have, as far as the words alone tell."""
    needed = [] if callable(similarity) or similarity is None else Rule(similarity).columns
    objects = [*POINTS, *needed]
    return {"truth": objects, "predictions": objects, "frames": FRAME_KEY}


def columns_to_read(
    contents: Mapping[str, Contents],
    wanted: Collection[str],
    rule: Rule,
) -> dict[str, list[str]]:
    """The columns of each side that matching and the `wanted` columns of the match table need."""
    columns = {}
    for side, held in contents.items():
        matched = {*FRAME_KEY} if side == "frames" else {*POINTS, *rule.columns, *OPTIONAL}
        columns[side] = [
            name
            for name in held.schema.names
            if name in matched
            or PREFIXES[side] + name in wanted
            # Whoever measures similarity, or makes poses of joints, may look at any column.
            or (side != "frames" and rule.reads_all_columns)
        ]
    return columns


def check_alike(contents: Mapping[str, Contents]) -> None:
    """Raises InputError where the keys of the sides are of different types, or their sequences lie apart."""
    truth = contents["truth"]
    problems = []
    for side, other in contents.items():
        for name in ("sequence", "joint"):
            if name == "joint" and side == "frames":
                continue
            if (name in truth.schema.names) != (name in other.schema.names):
                problems.append(
                    f"{other.name}: column {name} is on one side only; keypoints are matched with keypoints"
                )
            elif name in truth.schema.names and truth.n_rows and other.n_rows:
                kinds = truth.schema.field(name).type, other.schema.field(name).type
                if kinds[0] != kinds[1]:
                    what = f"column {name} is {kinds[1]}, and in {truth.name} it is {kinds[0]}; make them the same"
                    problems.append(f"{other.name}: {what}")
    if not problems:
        problems = _apart(contents)
    if problems:
        raise InputError(problems)


def _apart(contents: Mapping[str, Contents]) -> list[str]:
    """What to say where all sequences of one side come before all of the other."""
    ranges = {
        side: (min(group.low for group in held.groups), max(group.high for group in held.groups))
        for side, held in contents.items()
        if held.groups
    }
    truth = ranges.get("frames") or ranges.get("truth")
    predictions = ranges.get("predictions")
    if truth is None or predictions is None or (predictions[0] <= truth[1] and truth[0] <= predictions[1]):
        return []
    has = [f"{low} to {high}" for low, high in (predictions, truth)]
    problem = f"shares no sequence with the truth; it has {has[0]} and the truth has {has[1]}"
    return [f"{contents['predictions'].name}: {problem}"]
