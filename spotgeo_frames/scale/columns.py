"""Opens the datasets of an evaluation: checks that both sides fit together, and chooses the columns to read."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ..geometries import Geometry, Measure
from ..matching import Header, MatchOptions, Rule, rule_for
from ..support import Storage, check_none, noted_in
from ..tables import schema
from .contents import ON_ERROR, Contents, contents_of
from .listing import in_files

SIDES = ("truth", "predictions")

# Columns that matching uses if they exist.
OPTIONAL = ["x", "y", "w", "h", "joint", "visibility", "category", "crowd", "ignore"]


@contextmanager
def opened(
    truth: Any,
    predictions: Any,
    frames: Any,
    similarity: str | Measure | None = None,
    on_error: str = "raise",
    storage: Storage | None = None,
) -> Iterator[dict[str, Contents]]:
    """A context that gives the footers of the datasets, by side, and holds temporary files of those that are no files.

    Raises InputError with the problems of all of them.
    """
    if on_error not in ON_ERROR:
        raise ValueError(f"on_error is {on_error!r}; {' or '.join(map(repr, ON_ERROR))} is needed")
    datasets = {"truth": truth, "predictions": predictions} | ({} if frames is None else {"frames": frames})
    required = required_columns(similarity)
    contents, problems = {}, list[str]()
    with in_files(datasets) as files:
        for side, dataset in files.items():
            with noted_in(problems):
                contents[side] = contents_of(dataset, required[side], on_error, storage)
        check_none(problems)
        check_alike(contents)
        yield contents


def dataset_rule(options: MatchOptions, contents: Mapping[str, Contents]) -> Rule:
    """The rule for datasets, whose columns tell the geometry; raises InputError if the options do not fit it."""
    return rule_for(options, *geometries(contents))


def geometries(contents: Mapping[str, Contents]) -> Iterator[Header]:
    """The geometry of the truth, then that of the predictions."""
    for side in SIDES:
        dataset = contents[side]
        yield Header(dataset.name, dataset.schema.names, dataset.n_rows)


def required_columns(similarity: str | Measure | None) -> dict[str, list[str]]:
    """The columns that the files of each side must have; those that depend on the geometry are not known yet."""
    name = similarity if isinstance(similarity, str) else "distance"
    geometry = Rule(name).geometry
    # Rows without an object are numbered, but for joints, which belong to one.
    key = schema.OBJECT_KEY if geometry.assembled is not None else schema.FRAME_KEY
    objects = [*key, *columns_of_tables(geometry)]
    return {"truth": objects, "predictions": objects, "frames": schema.FRAME_KEY}


def columns_of_tables(geometry: Geometry) -> tuple[str, ...]:
    """The columns that tables of a geometry have."""
    return geometry.columns if geometry.columns_of_tables is None else geometry.columns_of_tables


def columns_to_read(contents: Mapping[str, Contents], wanted: Collection[str], rule: Rule) -> dict[str, list[str]]:
    """The columns of each side that matching and the `wanted` columns of the match table need."""
    columns = {}
    for side, dataset in contents.items():
        matched = (
            {*schema.FRAME_KEY}
            if side == "frames"
            else {*schema.OBJECT_KEY, *columns_of_tables(rule.geometry), *OPTIONAL, *rule.columns_of_assignment}
        )
        columns[side] = [
            name
            for name in dataset.schema.names
            if name in matched
            or schema.PREFIXES[side] + name in wanted
            # A caller's similarity, or making whole poses of joints, may need any column.
            or (side != "frames" and rule.geometry.any_column)
        ]
    return columns


def check_alike(contents: Mapping[str, Contents]) -> None:
    """Raises InputError if the keys of the sides have different types, or if their ranges of sequences are disjoint."""
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
                    problem = f"column {name} is {kinds[1]}, and in {truth.name} it is {kinds[0]}; make them the same"
                    problems.append(f"{other.name}: {problem}")
    if not problems:
        problems = _apart(contents)
    check_none(problems)


def _apart(contents: Mapping[str, Contents]) -> list[str]:
    """A problem if all sequences of one side come before all of the other; none otherwise."""
    ranges = {
        side: (min(group.low for group in dataset.groups), max(group.high for group in dataset.groups))
        for side, dataset in contents.items()
        if dataset.groups
    }
    truth = ranges.get("frames") or ranges.get("truth")
    predictions = ranges.get("predictions")
    if truth is None or predictions is None or (predictions[0] <= truth[1] and truth[0] <= predictions[1]):
        return []
    has = [f"{low} to {high}" for low, high in (predictions, truth)]
    problem = f"shares no sequence with the truth; it has {has[0]} and the truth has {has[1]}"
    return [f"{contents['predictions'].name}: {problem}"]
