"""What trackeval's VACE and IDEucl and Stone Soup's SIAP say of tables, which `track(metrics=...)` is held against."""

import contextlib
import io
from datetime import datetime, timedelta
from itertools import combinations
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from trackeval.metrics import VACE
from trackeval.metrics.ideucl import IDEucl

from . import official

VACE_AND_IDEUCL = {"VACE": VACE(), "IDEucl": IDEucl({"PRINT_CONFIG": False})}
OF_TRACKEVAL = {"ATA": "VACE", "SFDA": "VACE", "IDEucl": "IDEucl"}
NOTHING = dict.fromkeys(["VACE_IDs", "VACE_GT_IDs", "num_non_empty_timesteps", "STDA", "FDA"], 0.0)
NOTHING |= dict.fromkeys(["ATA", "SFDA"], np.nan)

OF_STONE_SOUP = {
    "completeness": "SIAP Completeness",
    "ambiguity": "SIAP Ambiguity",
    "spuriousness": "SIAP Spuriousness",
    "positional_accuracy": "SIAP Position Accuracy",
    "longest_track_segment": "SIAP Longest Track Segment",
    "rate_of_number_changes": "SIAP Rate of Track Number Change",
}

# What Stone Soup says where there is nothing to divide by.
FILLED = dict.fromkeys(OF_STONE_SOUP, 0.0) | {"ambiguity": 1.0}

# An association: true object, predicted object, first frame, last frame.
Span = tuple[Any, Any, int, int]


def trackeval_numbers(
    truth: pd.DataFrame, predictions: pd.DataFrame, similarities: Any, frames: pd.DataFrame, *, as_it_is: bool = False
) -> dict[Any, dict[str, float]]:
    """ATA, SFDA and IDEucl by sequence, and under None of all combined.

    Where trackeval fails, they are NaN and 0, unless it is asked `as_it_is`.
    """
    found = _found(truth, predictions, similarities, frames, as_it_is)
    return {sequence: {name: each[of][name] for name, of in OF_TRACKEVAL.items()} for sequence, each in found.items()}


def trackeval_averages(
    truth: pd.DataFrame, predictions: pd.DataFrame, similarities: Any, frames: pd.DataFrame
) -> dict[str, dict[str, float]]:
    """The same of all classes together, by how they are averaged: "class" and "detection"."""
    of_classes = {}
    for name in sorted({*truth["category"], *predictions["category"]}):
        sides = (side[side["category"] == name] for side in (truth, predictions))
        of_classes[name] = _found(*sides, similarities, frames)[None]
    answer: dict[str, dict[str, float]] = {"class": {}, "detection": {}}
    for name, of in OF_TRACKEVAL.items():
        metric, each = VACE_AND_IDEUCL[of], {name: found[of] for name, found in of_classes.items()}
        answer["class"][name] = metric.combine_classes_class_averaged(each, ignore_empty_classes=False)[name]
        answer["detection"][name] = metric.combine_classes_det_averaged(each)[name]
    return answer


def _found(
    truth: pd.DataFrame, predictions: pd.DataFrame, similarities: Any, frames: pd.DataFrame, as_it_is: bool = False
) -> dict[Any, Any]:
    loaded = official._loaded(truth, predictions, similarities, frames)
    found: dict[Any, Any] = {}
    for sequence, data in loaded.items():
        of_frames = truth[truth["sequence"] == sequence].groupby("frame")
        data["gt_dets"] = [
            of_frames.get_group(frame)[["x", "y", "w", "h"]].to_numpy(float)
            if frame in of_frames.groups
            else np.zeros((0, 4))
            for frame in sorted(frames["frame"][frames["sequence"] == sequence])
        ]
        similar = as_it_is or any((matrix >= 0.4).any() for matrix in data["similarity_scores"])
        with contextlib.redirect_stdout(io.StringIO()):
            # VACE fails where there is no object.
            found[sequence] = {"VACE": VACE_AND_IDEUCL["VACE"].eval_sequence(data) if _n_objects(data) else NOTHING}
            # IDEucl fails where nothing is similar.
            way = VACE_AND_IDEUCL["IDEucl"].eval_sequence(data)["IDEucl"] if similar else 0.0
            found[sequence] |= {"IDEucl": {"IDEucl": float(way)}}
    combined = {
        name: metric.combine_sequences({sequence: each[name] for sequence, each in found.items()})
        for name, metric in VACE_AND_IDEUCL.items()
        if name == "IDEucl" or any(map(_n_objects, loaded.values()))
    }
    return found | {None: {"VACE": NOTHING} | combined}


def _n_objects(data: dict[str, Any]) -> int:
    return int(data["num_gt_dets"] + data["num_tracker_dets"])


def nearest_spans(truth: pd.DataFrame, predictions: pd.DataFrame, tau: float) -> list[Span]:
    """The associations of one sequence: each prediction with the first of the nearest truths, frame by frame."""
    near = {}
    for row in predictions.itertuples():
        there = truth[truth["frame"] == row.frame]
        distance = np.sqrt((there["x"] - row.x) ** 2 + (there["y"] - row.y) ** 2).to_numpy()
        if len(distance) and distance.min() <= tau:
            near[row.object, row.frame] = there["object"].iloc[int(distance.argmin())]
    rows = {
        side: {name: sorted(frames) for name, frames in table.groupby("object")["frame"]}
        for side, table in (("truth", truth), ("predictions", predictions))
    }

    def follows(sides_rows: list[int], before: int, after: int) -> bool:
        return sides_rows.index(after) == sides_rows.index(before) + 1

    spans: list[Span] = []
    for (name, frame), true in sorted(near.items()):
        if spans and spans[-1][:2] == (true, name):
            last = spans[-1][3]
            if follows(rows["truth"][true], last, frame) and follows(rows["predictions"][name], last, frame):
                spans[-1] = (*spans[-1][:3], frame)
                continue
        spans.append((true, name, frame, frame))
    return spans


def least_cover(spans: list[Span]) -> int:
    """The least number of spans that cover the frames of all, by trying all subsets."""
    wanted = {frame for *_, first, last in spans for frame in range(first, last + 1)}
    for count in range(len(spans) + 1):
        for chosen in combinations(spans, count):
            if {frame for *_, first, last in chosen for frame in range(first, last + 1)} >= wanted:
                return count
    raise AssertionError


def stone_soup(
    truth: pd.DataFrame,
    predictions: pd.DataFrame,
    spans: list[Span],
    tau: float | None = None,
    *,
    as_it_is: bool = False,
) -> dict[str, float]:
    """SIAP of one sequence by Stone Soup with these associations, or with a tau with those of its own associator.

    It counts the tracks that a truth needs as `least_cover` does, unless it is asked `as_it_is`.
    """
    metrics = pytest.importorskip("stonesoup.metricgenerator.tracktotruthmetrics")
    from stonesoup.dataassociator.tracktotrack import TrackToTruth
    from stonesoup.measures import Euclidean
    from stonesoup.metricgenerator.manager import SimpleManager
    from stonesoup.types.association import AssociationSet, SingleTimeAssociation, TimeRangeAssociation
    from stonesoup.types.groundtruth import GroundTruthPath
    from stonesoup.types.state import State
    from stonesoup.types.time import TimeRange
    from stonesoup.types.track import Track

    def at(frame: int) -> datetime:
        return datetime(2024, 1, 1) + timedelta(seconds=int(frame))

    def paths(table: pd.DataFrame, kind: Any) -> dict[Any, Any]:
        return {
            name: kind([State([row.x, row.y], timestamp=at(row.frame)) for row in rows.itertuples()])
            for name, rows in table.sort_values("frame").groupby("object")
        }

    def association(one: Any, other: Any, first: int, last: int) -> Any:
        objects = {true[one], found[other]}
        if first == last:  # no range of time, says Stone Soup
            return SingleTimeAssociation(objects, at(first))
        return TimeRangeAssociation(objects, TimeRange(at(first), at(last)))

    def lasting(manager: Any) -> Any:
        return SimpleNamespace(
            association_set=AssociationSet({a for a in manager.association_set if hasattr(a, "time_range")})
        )

    class Least(metrics.SIAPMetrics):  # type: ignore[name-defined, misc]
        """Associations of a single frame take no time."""

        def min_num_tracks_needed_to_track(self, manager: Any, path: Any) -> int:
            if as_it_is:
                return metrics.SIAPMetrics.min_num_tracks_needed_to_track(manager, path)
            return least_cover([span for span in spans if true[span[0]] is path])

        def total_time_tracked(self, manager: Any, path: Any) -> float:
            return metrics.SIAPMetrics.total_time_tracked(lasting(manager), path)

        def longest_track_time_on_truth(self, manager: Any, path: Any) -> float:
            return metrics.SIAPMetrics.longest_track_time_on_truth(lasting(manager), path)

    true, found = paths(truth, GroundTruthPath), paths(predictions, Track)
    generator = Least(position_measure=Euclidean((0, 1)), velocity_measure=Euclidean((0, 1)))
    associator = None if tau is None else TrackToTruth(tau, consec_pairs_confirm=1, consec_misses_end=1)
    manager = SimpleManager([generator], associator=associator)
    manager.add_data(groundtruth_paths={*true.values()}, tracks={*found.values()})
    if tau is None:
        manager.association_set = AssociationSet({association(*span) for span in spans})
    else:
        manager.associate_tracks(generator)
    values = {metric.title: metric.value for metric in generator.compute_metric(manager)}
    return {name: values[title] for name, title in OF_STONE_SOUP.items()}
