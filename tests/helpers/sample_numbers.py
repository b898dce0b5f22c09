"""Prints the numbers of the samples as JSON, with all digits: python -m helpers.sample_numbers, in the folder tests.

`tests/test_machines.py` runs it in processes as other machines would, and wants the same bytes of each.
"""

import json
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

import spotgeo_frames as sf
from helpers.commands import run_here
from helpers.reference import PROJECT
from spotgeo_frames.formats.rectangles import smallest_rectangles
from spotgeo_frames.geometries.facts import Rows
from spotgeo_frames.geometries.joints import JOINTS
from spotgeo_frames.geometries.oriented_boxes import outline
from spotgeo_frames.support.arrays import exp, log, log10

DATA = PROJECT / "data"
SAMPLE, TRACKS, POSES = (DATA / name for name in ("sample", "tracks", "poses"))
CORNERS = ["x1", "y1", "x2", "y2", "x3", "y3", "x4", "y4"]
COCO = DATA / "coco" / "annotations.json", DATA / "coco" / "fast.json"


def of_functions() -> Iterator[tuple[str, Any]]:
    values = np.random.default_rng(0).exponential(5, 20_000)
    yield "exp", exp(-values).tolist()
    yield "log", log(values).tolist()
    yield "log10", log10(np.arange(1, 20_000)).tolist()


def of_any(name: str, x: Any, other: Any) -> Iterator[tuple[str, Any]]:
    """The numbers that follow from every kind of result."""
    yield f"{name}: summarize", sf.summarize(x)
    yield f"{name}: flat", sf.flat(x if hasattr(x, "summary") else sf.summarize(x))
    yield f"{name}: intervals", sf.intervals(x)
    yield f"{name}: compare", sf.compare({"a": x, "b": other})


def of_matches(name: str, matches: pd.DataFrame, other: pd.DataFrame, by: Any) -> Iterator[tuple[str, Any]]:
    yield f"{name}: match", matches
    yield from of_any(name, matches, other)
    yield f"{name}: by", sf.summarize(matches, by=by)
    yield f"{name}: intervals by", sf.intervals(matches, by=by)
    yield f"{name}: intervals from resamples", sf.intervals(matches, method="percentile")
    yield f"{name}: diagnose", (found := sf.diagnose(matches))
    yield f"{name}: error_costs", sf.error_costs(found)
    yield f"{name}: bias", sf.bias(matches, by=by)
    yield f"{name}: changes", sf.changes(matches, other)
    yield f"{name}: object_summary", sf.object_summary(matches)
    columns = [column for column in matches if column.startswith("frame_")]
    yield f"{name}: worst_slices", sf.worst_slices(matches, columns)
    yield f"{name}: calibration", sf.calibration(matches)
    for word in ("f1", "recall"):
        yield f"{name}: gate, {word}", sf.non_inferiority(matches, other, word, 0.1).table
        at_all_times = sf.non_inferiority(matches, other, word, 0.1, always_valid=True)
        yield f"{name}: gate at all times, {word}", at_all_times.table
        yield f"{name}: plan, {word}", sf.sample_size(matches, word, 0.05, other)
    yield f"{name}: sums", sf.sums(matches)


def of_points() -> Iterator[tuple[str, Any]]:
    frames = pd.read_parquet(SAMPLE / "frames.parquet")
    truth = sf.Annotations(pd.read_parquet(SAMPLE / "truth.parquet"), frames)
    eager, cautious = (pd.read_parquet(SAMPLE / f"{name}.parquet") for name in ("eager", "cautious"))
    matches = sf.match(truth, eager)
    yield from of_matches("points", matches, sf.match(truth, cautious), {"truth_brightness": 4})
    yield "points: detection_limit", sf.detection_limit(matches, "truth_brightness")
    yield "points: sweep", sf.sweep(truth, eager)
    yield "points: check", sf.check(truth, eager)
    for workers in (1, 2):
        result = sf.score_dataset(SAMPLE / "truth.parquet", SAMPLE / "eager.parquet", by=["sequence"], workers=workers)
        yield f"points: score_dataset by {workers} workers", result


def of_boxes() -> Iterator[tuple[str, Any]]:
    truth = sf.Annotations(*(pd.read_parquet(DATA / "boxes" / f"{name}.parquet") for name in ("truth", "frames")))
    sides = [pd.read_parquet(DATA / "boxes" / f"{name}.parquet") for name in ("v1", "v2")]
    yield from of_matches("boxes", *(sf.match(truth, side) for side in sides), "category")
    results = [sf.average_precision(truth, side) for side in sides]
    yield "boxes: average_precision", results[0]
    yield from of_any("boxes: average_precision", *results)
    yield "boxes: confusion", sf.confusion(results[0], wide=False)
    yield "boxes: costs in average precision", sf.error_costs(sf.diagnose(results[0]))
    yield "boxes: sweep", sf.sweep(truth, sides[0])
    yield "boxes: check", sf.check(truth, sides[0])
    yield "COCO: average_precision", sf.average_precision(*sf.read_coco(*COCO, boxes=True))


def of_turned_boxes() -> Iterator[tuple[str, Any]]:
    """The sample of boxes, each turned by an angle of its own, in the words that its corners give it."""
    sides = []
    for name in ("truth", "v1"):
        table = pd.read_parquet(DATA / "boxes" / f"{name}.parquet").rename(columns={"x": "cx", "y": "cy"})
        table["angle"] = 17.3 * table["frame"] + table["w"] / 9
        corners = dict(zip(CORNERS, outline(Rows(table)).reshape(-1, 8).T, strict=True))
        given = table.drop(columns=["cx", "cy", "w", "h", "angle"]).assign(**corners)
        sides.append(sf.tidy(given, box=[*CORNERS], box_format="corners"))
        yield f"turned boxes: {name}", sides[-1]
    matches = sf.match(*sides)
    yield "turned boxes: match", matches
    yield "turned boxes: bias", sf.bias(matches)
    yield "turned boxes: rectangles", smallest_rectangles(outline(Rows(sides[0])) + np.arange(8).reshape(4, 2)).tolist()


def of_tracks() -> Iterator[tuple[str, Any]]:
    truth, predictions = sf.read_motchallenge(TRACKS / "truth", TRACKS / "tracker")
    result = sf.track(truth, predictions)
    surer = sf.track(truth, predictions._replace(objects=predictions.objects[predictions.objects["score"] > 0.5]))
    yield "tracks: track", result
    yield from of_any("tracks", result, surer)
    yield "tracks: identity_breaks", sf.identity_breaks(result)
    yield "tracks: error_costs", sf.error_costs(result)
    yield "tracks: sweep", sf.sweep(truth, predictions, tracks=True)


def of_poses() -> Iterator[tuple[str, Any]]:
    truth, predictions = sf.read_posetrack(POSES / "truth", POSES / "tracker")
    result = sf.pose(truth, predictions)
    yield "poses: pose", result
    yield from of_any("poses", result, result)
    yield "poses: identity_breaks", sf.identity_breaks(result)
    whole = [side._replace(objects=side.objects.assign(area=5000.0, score=0.5)) for side in (truth, predictions)]
    by_oks = {"similarity": "oks", "sigmas": dict.fromkeys(JOINTS, 0.05)}
    yield "poses: match by OKS", sf.match(*whole, **by_oks)
    yield "poses: average_precision by OKS", sf.average_precision(*whole, **by_oks)


def of_commands() -> Iterator[tuple[str, Any]]:
    for words in (
        ("score", SAMPLE / "truth.json", SAMPLE / "eager.json"),
        ("compare", SAMPLE / "truth.json", SAMPLE / "eager.json", SAMPLE / "cautious.json"),
        ("ap", *COCO),
        ("track", TRACKS / "truth", TRACKS / "tracker"),
        ("pose", POSES / "truth", POSES / "tracker"),
    ):
        yield f"the command {words[0]}", run_here(*words, "--json").out


def lines(result: Any) -> list[str]:
    """A result as text, with all digits."""
    if isinstance(result, pd.DataFrame):
        return result.to_csv().splitlines()
    if hasattr(result, "_fields"):
        return [line for field in result._fields for line in lines(getattr(result, field, None))]
    if hasattr(result, "summary"):
        return lines(result.summary)
    return str(result).splitlines()


def main() -> None:
    warnings.simplefilter("ignore")
    parts = of_functions, of_points, of_boxes, of_turned_boxes, of_tracks, of_poses, of_commands
    print(json.dumps({name: lines(result) for part in parts for name, result in part()}))


if __name__ == "__main__":
    main()
