"""Changing a table in place changes no other: neither what it was made from, nor what was made with it.

pandas 3 sees to it. pandas 2.3 does not, where two tables share memory.
"""

from collections.abc import Callable, Iterator
from typing import Any

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.reference import PROJECT

SAMPLE = PROJECT / "data" / "sample"


def read(name: str) -> sf.Annotations:
    frames = SAMPLE / "frames.parquet" if name == "truth" else None
    return sf.read_objects(SAMPLE / f"{name}.parquet", frames=frames)


def matches() -> pd.DataFrame:
    return sf.match(read("truth"), read("eager"))


def tracks(preprocess: bool = True) -> tuple[sf.Annotations, sf.Annotations]:
    folder = PROJECT / "data" / "tracks"
    return sf.read_motchallenge(folder / "truth", folder / "tracker", preprocess=preprocess)


def poses() -> tuple[sf.Annotations, sf.Annotations]:
    folder = PROJECT / "data" / "poses"
    return sf.read_posetrack(folder / "truth", folder / "tracker")


# What gives the inputs, and what makes a result of them.
MADE: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "read_spotgeo": (lambda: None, lambda _: sf.read_spotgeo(SAMPLE / "truth.json")),
    "read_objects": (lambda: None, lambda _: read("truth")),
    "read_motchallenge": (lambda: None, lambda _: tracks()),
    "read_motchallenge as it is": (lambda: None, lambda _: tracks(preprocess=False)),
    "read_posetrack": (lambda: None, lambda _: poses()),
    "read_objects of tables": (lambda: read("truth"), lambda side: sf.read_objects(side.objects, side.frames)),
    "match": (lambda: (read("truth"), read("eager")), lambda sides: sf.match(*sides)),
    "match without predictions": (
        lambda: (read("truth"), read("eager").objects.head(0)),
        lambda sides: sf.match(*sides),
    ),
    "summarize": (matches, lambda table: sf.summarize(table, by=["sequence", "truth_brightness"], dropna=False)),
    "diagnose": (matches, sf.diagnose),
    "label_suspects": (matches, lambda table: sf.label_suspects(table, score_threshold=0)),
    "error_costs": (lambda: sf.diagnose(matches()), sf.error_costs),
    "bias": (matches, lambda table: sf.bias(table, by="sequence")),
    "object_summary": (matches, sf.object_summary),
    "identity_breaks": (lambda: sf.track(*tracks()).matches, sf.identity_breaks),
    "intervals": (matches, lambda table: sf.intervals(table, by="sequence", resamples=100)),
    "worst_slices": (matches, lambda table: sf.worst_slices(table, ["truth_x"], rate=1)),
    "detection_limit": (matches, lambda table: sf.detection_limit(table, "truth_brightness")),
    "calibration": (matches, sf.calibration),
    "operating_point": (matches, lambda table: sf.operating_point(table, recall=0.5)),
    "sweep": (lambda: (read("truth"), read("eager")), lambda sides: sf.sweep(*sides, tau=10)),
    "leaderboard": (matches, lambda table: sf.leaderboard({"a": table, "b": table})),
    "track": (tracks, lambda sides: sf.track(*sides)),
    "pose": (poses, lambda sides: sf.pose(*sides)),
}


def tables_of(made: Any) -> Iterator[pd.DataFrame]:
    """All tables of a result, which may be a table or hold some."""
    if isinstance(made, pd.DataFrame):
        yield made
    elif made is not None and not isinstance(made, str):
        for part in made if isinstance(made, tuple) else vars(made).values():
            yield from tables_of(part)


def change(table: pd.DataFrame) -> None:
    """Puts the last value of every column into all of its rows, in place."""
    for position in range(table.shape[1] if len(table) else 0):
        table.iloc[:, position] = table.iloc[-1, position]


@pytest.mark.filterwarnings("error:Setting an item of incompatible dtype")  # pandas 2.3, where memory is read-only
@pytest.mark.parametrize(("inputs", "function"), MADE.values(), ids=MADE)
def test_results_share_nothing_that_can_change(inputs: Any, function: Any) -> None:
    given = inputs()
    read_here, made = [*tables_of(given)], [*tables_of(function(given))]
    assert made
    assert not any(table is given_table for table in made for given_table in read_here)
    for changing in (made, read_here):
        for place, table in enumerate(changing):
            others = [other for other in (*read_here, *made) if other is not table]
            before = [other.copy() for other in others]
            change(table)
            for other, as_it_was in zip(others, before, strict=True):
                pd.testing.assert_frame_equal(other, as_it_was, obj=f"another table than number {place}")
