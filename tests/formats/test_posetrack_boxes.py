"""The boxes of PoseTrack21 with regions to ignore, held against loops that follow the kit's rule."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment
from shapely import geometry

import spotgeo_frames as sf
from helpers import official
from helpers.boxes import box_matrix
from helpers.commands import answer_here, refused_here, run_process
from helpers.problems import refused
from helpers.reference import PROJECT, outside
from spotgeo_frames.tables.provenance import inputs_of

Box = list[float]
Corners = list[tuple[float, float]]

WALL: Corners = [(0, 0), (100, 0), (100, 10), (0, 10)]  # 1,000 px²


class Frame(NamedTuple):
    """What is in a frame: boxes by their identity, and polygons."""

    truth: Mapping[int, Box] = MappingProxyType({})
    predictions: Mapping[int, Box] = MappingProxyType({})
    regions: Sequence[Corners] = ()
    counts: bool = True


Scene = dict[str, list[Frame]]


def as_documents(folder: Path, scene: Scene) -> tuple[Path, Path]:
    """A scene as the documents of poses, in which images have ids from 100 on."""
    sides = folder / "truth", folder / "tracker"
    for number, side in enumerate(sides):
        side.mkdir(parents=True, exist_ok=True)
        for name, frames in scene.items():
            images = [image(100 + place, frame) for place, frame in enumerate(frames)]
            people = [
                {"image_id": 100 + place, "track_id": identity, "bbox": box}
                for place, frame in enumerate(frames)
                for identity, box in frame[number].items()
            ]
            (side / f"{name}.json").write_text(json.dumps({"images": images, "annotations": people}))
    return sides


def image(number: int, frame: Frame) -> dict[str, Any]:
    return {"id": number, "is_labeled": False, "has_labeled_person": frame.counts, **polygons(frame)}


def polygons(frame: Frame) -> dict[str, Any]:
    return {f"ignore_regions_{axis}": [[at[k] for at in one] for one in frame.regions] for k, axis in enumerate("xy")}


def as_lines(folder: Path, scene: Scene) -> tuple[Path, Path]:
    """A scene in the layout of the kit's task, in which every frame counts."""
    sides = folder / "truth", folder / "tracker"
    sides[1].mkdir(parents=True)
    for name, frames in scene.items():
        (sides[0] / name / "gt").mkdir(parents=True)
        info = [{"frame_index": number, **polygons(frame)} for number, frame in enumerate(frames, 1)]
        (sides[0] / name / "image_info.json").write_text(json.dumps(info))
        for number, path in enumerate([sides[0] / name / "gt" / "gt.txt", sides[1] / f"{name}.txt"]):
            path.write_text("".join(lines(frames, number)))
    return sides


def lines(frames: list[Frame], side: int) -> Iterator[str]:
    for number, frame in enumerate(frames, 1):
        for identity, box in frame[side].items():
            yield ",".join(map(repr, [number, identity, *map(float, box), 1, -1, -1, -1])) + "\n"


def scene_of(*frames: Frame) -> Scene:
    return {"walk": list(frames)}


def table(scene: Scene, side: int) -> pd.DataFrame:
    """All boxes of the frames that count, numbered from 0."""
    rows = [
        (name, place, identity, *map(float, box))
        for name, frames in scene.items()
        for place, frame in enumerate(frames)
        if frame.counts
        for identity, box in frame[side].items()
    ]
    return pd.DataFrame(rows, columns=["sequence", "frame", "object", "x", "y", "w", "h"])


def ignored(frame: Frame) -> list[int]:
    """The identities that the kit takes out of a frame."""
    if not (frame.truth and frame.predictions and frame.regions):
        return []
    columns = ["x", "y", "w", "h"]
    sides = (pd.DataFrame([*side.values()], columns=columns, dtype=float) for side in frame[:2])
    similar = box_matrix(*sides)
    similar[similar < 0.5 - np.finfo(float).eps] = 0
    rows, columns_ = linear_sum_assignment(-similar)
    matched = {column for row, column in zip(rows, columns_, strict=True) if similar[row, column] > 0}
    return [
        identity
        for place, (identity, box) in enumerate(frame.predictions.items())
        if place not in matched and any(share(region, box) > 0.1 for region in frame.regions)
    ]


def share(region: Corners, box: Box) -> float:
    """The IoU of a polygon and a box; parts of a polygon that crosses itself are joined with the box one by one."""
    polygon = geometry.Polygon(region)
    x, y, w, h = box
    rectangle = geometry.Polygon([(x, y), (x + w, y), (x + w, y + h), (x, y + h)])
    sound = polygon if polygon.is_valid else polygon.buffer(0)
    parts = list(getattr(sound, "geoms", [sound]))
    return sum(part.intersection(rectangle).area for part in parts) / sum(part.union(rectangle).area for part in parts)


def star(random: np.random.Generator, crosses: bool) -> Corners:
    """A polygon about a place; with corners in no order, it crosses itself."""
    turn = random.uniform(0, 2 * np.pi, int(random.integers(3, 9)))
    turn = turn if crosses else np.sort(turn)
    far = random.uniform(0.4, 1, len(turn)) * random.uniform(20, 70)
    x, y = random.uniform(0, 200, 2)
    return [(float(a), float(b)) for a, b in np.column_stack([x + far * np.cos(turn), y + far * np.sin(turn)])]


def random_scene(seed: int) -> Scene:
    """People and others whom only the tracker sees; frames without truth, without predictions, without regions."""
    random = np.random.default_rng(seed)
    scene: Scene = {}
    for name in ["alley", "bridge"][: int(random.integers(1, 3))]:
        people = [
            (random.uniform(0, 200, 2), random.uniform(-8, 8, 2), random.uniform(20, 80, 2))
            for _ in range(random.integers(6, 17))
        ]
        n_real = int(random.integers(1, 4))
        frames = []
        for time in range(int(random.integers(2, 10))):
            boxes = {number: [*(at + time * by), *size] for number, (at, by, size) in enumerate(people)}
            truth = {number: boxes[number] for number in range(n_real) if random.random() < 0.85}
            seen = [number for number in boxes if random.random() < 0.85]
            claims = {
                number if random.random() < 0.9 else number + 50: [
                    *(np.array(boxes[number][:2]) + random.normal(0, 4, 2)),
                    *np.abs(np.array(boxes[number][2:]) + random.normal(0, 4, 2)),
                ]
                for number in seen
            }
            regions = [star(random, crosses=random.random() < 0.5) for _ in range(random.choice([0, 1, 2, 3]))]
            there = random.random(2) < 0.85
            frames.append(Frame(truth if there[0] else {}, claims if there[1] else {}, regions, random.random() < 0.9))
        scene[name] = [*frames, Frame()]
    return scene


def check(scene: Scene, read: tuple[sf.Annotations, sf.Annotations], first: int) -> None:
    """What was read is what the loops leave, and its numbers are trackeval's; frames are counted from `first`."""
    truth, claims = (table(scene, side) for side in (0, 1))
    gone = {
        (name, place, identity)
        for name, frames in scene.items()
        for place, frame in enumerate(frames)
        if frame.counts
        for identity in ignored(frame)
    }
    keys = claims[["sequence", "frame", "object"]].itertuples(index=False)
    kept = claims[np.array([key not in gone for key in keys], bool)]
    listed = [(name, place) for name, frames in scene.items() for place, frame in enumerate(frames) if frame.counts]
    frames = pd.DataFrame(listed, columns=["sequence", "frame"])
    for got, wanted in ((read[0].objects, truth), (read[1].objects, kept), (read[0].frames, frames)):
        wanted = wanted.assign(frame=wanted["frame"] + first).reset_index(drop=True)
        pd.testing.assert_frame_equal(got[wanted.columns], wanted, check_dtype=False)
    found = official.evaluate(truth, kept, box_matrix, frames)
    official.same(sf.track(*read), found)


@pytest.mark.parametrize("seed", range(25))
def test_any_boxes_are_as_the_kit_has_them(seed: int, tmp_path: Path) -> None:
    scene = random_scene(seed)
    check(scene, sf.read_posetrack(*as_documents(tmp_path / "documents", scene), boxes=True), first=0)
    whole = {name: [frame._replace(counts=True) for frame in frames] for name, frames in scene.items()}
    read = sf.read_posetrack(*as_lines(tmp_path / "lines", whole), boxes=True)
    check(whole, read, first=1)
    same = sf.track(*sf.read_posetrack(*as_documents(tmp_path / "whole", whole), boxes=True)).summary
    pd.testing.assert_frame_equal(sf.track(*read).summary, same)


def test_scenes_take_out_boxes() -> None:
    gone = [len(ignored(frame)) for seed in range(25) for frames in random_scene(seed).values() for frame in frames]
    assert sum(gone) > 50


def test_simulated_walkers_are_as_the_kit_has_them(tmp_path: Path) -> None:
    folder = outside("POSETRACK_DATA", "posetrack")
    read = folder / "gt", folder / "trackers" / "walker" / "sequences"
    scene: Scene = {}
    for path in sorted(read[0].glob("*.json")):
        truth, claims = (json.loads((side / path.name).read_text()) for side in read)
        scene[path.stem] = []
        for one in truth["images"]:
            sides = [
                {a["track_id"]: a["bbox"] for a in of["annotations"] if a["image_id"] == one["id"]}
                for of in (truth, claims)
            ]
            corners = zip(one["ignore_regions_x"], one["ignore_regions_y"], strict=True)
            regions = [list(zip(x, y, strict=True)) for x, y in corners]
            scene[path.stem].append(Frame(*sides, regions, one["is_labeled"] or one["has_labeled_person"]))
    check(scene, sf.read_posetrack(*read, boxes=True), first=0)


def left(tmp_path: Path, *frames: Frame) -> list[int]:
    """The identities of the predictions that stay."""
    return sf.read_posetrack(*as_documents(tmp_path, scene_of(*frames)), boxes=True)[1].objects["object"].tolist()


SOMEBODY = {1: [500.0, 500.0, 20.0, 40.0]}


def test_without_regions_all_boxes_stay(tmp_path: Path) -> None:
    assert left(tmp_path, Frame(SOMEBODY, {7: [0, 0, 10, 10], 8: [500, 500, 20, 40]})) == [7, 8]


def test_a_box_leaves_by_its_iou_with_the_region(tmp_path: Path) -> None:
    """A box within a region ten times as large stays, and one within a region a little smaller leaves."""
    smaller: Corners = [(0, 50), (99, 50), (99, 60), (0, 60)]
    claims: dict[int, Box] = {7: [0, 0, 10, 10], 8: [0, 50, 10, 10]}
    assert left(tmp_path, Frame(SOMEBODY, claims, [WALL, smaller])) == [7]


def test_a_region_that_covers_everything_takes_out_large_boxes_alone(tmp_path: Path) -> None:
    everything: Corners = [(0, 0), (1000, 0), (1000, 1000), (0, 1000)]
    claims: dict[int, Box] = {7: [100, 100, 20, 40], 8: [0, 0, 400, 400]}
    assert left(tmp_path, Frame(SOMEBODY, claims, [everything])) == [7]


def test_a_box_half_in_a_region_leaves(tmp_path: Path) -> None:
    claims: dict[int, Box] = {7: [80, 0, 40, 10], 8: [95, 0, 100, 10]}  # IoU of 200 / 1200 and of 50 / 1950
    assert left(tmp_path, Frame(SOMEBODY, claims, [WALL])) == [8]


def test_a_box_that_a_truth_takes_stays(tmp_path: Path) -> None:
    """Of two in a region, the better match stays."""
    claims: dict[int, Box] = {7: [0, 0, 100, 12], 8: [0, 0, 100, 11]}
    assert left(tmp_path, Frame({1: [0, 0, 100, 10]}, claims, [WALL])) == [8]


def test_in_frames_without_truth_boxes_stay(tmp_path: Path) -> None:
    claims = {7: [0.0, 0.0, 100.0, 10.0]}
    frames = Frame({}, claims, [WALL]), Frame(SOMEBODY, claims, [WALL])
    truth, predictions = sf.read_posetrack(*as_lines(tmp_path, scene_of(*frames)), boxes=True)
    assert predictions.objects["frame"].tolist() == [1]
    assert sf.track(truth, predictions).summary["FP"].tolist() == [1, 1]


def test_frames_that_do_not_count_are_left_out(tmp_path: Path) -> None:
    frames = Frame(SOMEBODY, SOMEBODY, counts=False), Frame({}, SOMEBODY), Frame(SOMEBODY, {})
    truth, predictions = sf.read_posetrack(*as_documents(tmp_path, scene_of(*frames)), boxes=True)
    assert truth.frames.to_dict("list") == {"sequence": ["walk"] * 2, "frame": [1, 2], "image_id": [101, 102]}
    assert (truth.objects["frame"].tolist(), predictions.objects["frame"].tolist()) == ([2], [1])


def test_a_polygon_that_crosses_itself_counts_by_its_parts(tmp_path: Path) -> None:
    """A bow tie keeps its larger wing; two squares that share a corner are two parts, each joined with the box."""
    tie: Corners = [(0, 0), (30, 30), (30, 0), (0, 20)]
    squares: Corners = [(200, 0), (220, 0), (220, 20), (240, 20), (240, 40), (220, 40), (220, 20), (200, 20)]
    claims: dict[int, Box] = {7: [0, 0, 8, 20], 8: [20, 0, 10, 30], 9: [205, 5, 5, 9], 10: [205, 5, 9, 10]}
    frame = Frame(SOMEBODY, claims, [tie, squares])
    assert left(tmp_path, frame) == [number for number in claims if number not in ignored(frame)] == [7, 9]


def test_one_side_may_be_empty(tmp_path: Path) -> None:
    frames = [Frame(SOMEBODY, {}, [WALL]), Frame({}, {}, [WALL])]
    result = sf.track(*sf.read_posetrack(*as_lines(tmp_path / "predictions", scene_of(*frames)), boxes=True))
    assert result.summary[["TP", "FN", "FP"]].iloc[-1].tolist() == [0, 1, 0]
    read = sf.read_posetrack(*as_lines(tmp_path / "truth", scene_of(Frame({}, SOMEBODY, [WALL]))), boxes=True)
    assert sf.track(*read).summary[["TP", "FN", "FP"]].iloc[-1].tolist() == [0, 0, 1]
    truth, nobody = sf.read_posetrack(tmp_path / "predictions" / "truth", None, boxes=True)
    assert (len(truth.objects), len(nobody.objects), len(truth.frames)) == (1, 0, 2)


def test_what_is_read_of_lines(tmp_path: Path) -> None:
    folders = as_lines(tmp_path, scene_of(Frame(SOMEBODY, {7: [1, 2, 3, 4]}), Frame()))
    truth, predictions = sf.read_posetrack(*folders, boxes=True, table="polars")
    assert truth.frames.to_dict(as_series=False) == {"sequence": ["walk"] * 2, "frame": [1, 2]}
    assert truth.objects.columns == ["sequence", "frame", "object", "x", "y", "w", "h"]
    assert predictions.objects.rows() == [("walk", 1, 7, 1.0, 2.0, 3.0, 4.0, 1.0)]
    above = sf.read_posetrack(tmp_path, folders[1], boxes=True)
    pd.testing.assert_frame_equal(above[0].objects, truth.objects.to_pandas(), check_dtype=False)


def test_regions_belong_to_their_frame_index(tmp_path: Path) -> None:
    """The kit goes by the place of a frame in image_info.json. A single polygon may stand without a list around it."""
    claims = {7: [0.0, 0.0, 100.0, 10.0]}
    folders = as_lines(tmp_path, scene_of(Frame(SOMEBODY, claims), Frame(SOMEBODY, claims)))
    empty, flat = {"frame_index": 1, "ignore_regions_x": [], "ignore_regions_y": []}, {"frame_index": 2}
    flat |= {f"ignore_regions_{axis}": [corner[k] for corner in WALL] for k, axis in enumerate("xy")}
    for info in ([empty, flat], [flat, empty]):
        (folders[0] / "walk" / "image_info.json").write_text(json.dumps(info))
        assert sf.read_posetrack(*folders, boxes=True)[1].objects["frame"].tolist() == [1]


def test_the_eighth_field_is_not_read(tmp_path: Path) -> None:
    folders = as_lines(tmp_path, scene_of(Frame(SOMEBODY, SOMEBODY)))
    (folders[0] / "walk" / "gt" / "gt.txt").write_text("1,1,500,500,20,40,0,7,-1,-1\n")
    (folders[1] / "walk.txt").write_text("1,1,500,500,20,40,1,3,-1,-1\n")
    assert sf.track(*sf.read_posetrack(*folders, boxes=True)).summary["TP"].tolist() == [1, 1]


def test_mota_is_of_the_boxes_that_hota_has(tmp_path: Path) -> None:
    """The kit's copy of py-motmetrics compares this box, cut to (10, 10, 4, 4), with (9.9, 9.9, 3.9, 3.9): 0.86."""
    box = {1: [10.9, 10.9, 4.9, 4.9]}
    result = sf.track(*sf.read_posetrack(*as_lines(tmp_path, scene_of(Frame(box, box))), boxes=True))
    assert result.summary[["MOTA", "MOTP"]].iloc[-1].tolist() == [1, 1]


def test_the_digest_of_a_folder_holds_its_regions(tmp_path: Path) -> None:
    folders = as_lines(tmp_path, scene_of(Frame(SOMEBODY, {}), Frame()))

    def digest() -> str | None:
        return inputs_of({"truth": sf.read_posetrack(*folders, boxes=True)[0].objects})[0].sha256

    before, path = digest(), folders[0] / "walk" / "image_info.json"
    path.write_text(path.read_text().replace("[]", "[ ]"))
    assert before is not None
    assert digest() != before


@pytest.mark.parametrize(
    ("info", "place"),
    [
        ([{"frame_index": 0}], "frame_index"),
        ([{"frame_index": 1}, {"frame_index": 1}], "frame_index"),
        ([{"frame_index": 1, "ignore_regions_x": [[1, 2, 3]]}], "[0]"),
        ([{"frame_index": 1, "ignore_regions_x": [1, 2], "ignore_regions_y": [1, 2]}], "[0].ignore_regions_x[0]"),
        ([{"frame_index": "1"}], "[0].frame_index"),
    ],
)
def test_wrong_frames_are_refused(info: list[dict[str, Any]], place: str, tmp_path: Path) -> None:
    folders = as_lines(tmp_path, scene_of(Frame(SOMEBODY, {})))
    path = folders[0] / "walk" / "image_info.json"
    path.write_text(json.dumps(info))
    with refused(f"{path}: {place}"):
        sf.read_posetrack(*folders, boxes=True)


def test_what_is_missing_is_refused(tmp_path: Path) -> None:
    folders = as_lines(tmp_path, scene_of(Frame(SOMEBODY, SOMEBODY)))
    with refused((f"{folders[0] / 'walk'}", str(folders[0]))):
        sf.read_posetrack(folders[0] / "walk", folders[1], boxes=True)
    (folders[1] / "walk.txt").write_text("2,1,0,0,5,5,1,-1,-1,-1\n")  # beyond the frames
    with refused((f"{folders[1] / 'walk.txt'}, line 1", "frame 2")):
        sf.read_posetrack(*folders, boxes=True)
    (folders[1] / "walk.txt").unlink()
    with refused(str(folders[1])):
        sf.read_posetrack(*folders, boxes=True)
    path = folders[0] / "walk" / "image_info.json"
    path.unlink()
    with refused(str(path)):
        sf.read_posetrack(*folders, boxes=True)


def test_wrong_boxes_are_refused(tmp_path: Path) -> None:
    claims: dict[int, Box] = {1: [0, 0, 5], 2: [0, 0, -5, 5], 3: [0, 0, 5, 1e300], 4: [0, 0, 5, 5]}
    folders = as_documents(tmp_path, scene_of(Frame({}, claims)))
    path = folders[1] / "walk.json"
    content = json.loads(path.read_text())
    people = content["annotations"]
    people += [{"image_id": 100, "track_id": 4, "bbox": [0, 0, 5, 5]}, {"image_id": 9, "track_id": 1}]
    people += [{"image_id": 100, "track_id": 6}]
    path.write_text(json.dumps(content))
    place = f"{path}: annotations"
    boxes = [f"{place}[{number}].bbox" for number in (0, 1, 2, 6)]
    with refused(*boxes[:3], (f"{place}[4].track_id", "annotations[3]"), f"{place}[5].image_id", boxes[3]):
        sf.read_posetrack(*folders, boxes=True)


def test_the_command_evaluates_boxes(tmp_path: Path) -> None:
    poses = PROJECT / "data" / "poses"
    wanted = sf.track(*sf.read_posetrack(poses / "truth", poses / "tracker", boxes=True)).summary.iloc[-1]
    words = ["track", poses / "truth", poses / "tracker", "--benchmark", "PoseTrack21"]
    plain, kept = answer_here(*words), answer_here(*words, "--out", tmp_path / "kept")
    assert plain == kept
    assert list(plain["sequences"]) == ["corner", "street"]
    for name, value in plain["combined"].items():
        assert value == pytest.approx(wanted[name], rel=1e-12), name
    done = run_process(*words)
    assert (done.status, "by the rules of PoseTrack21" in done.out) == (0, True)
    assert sf.load(tmp_path / "kept").summary["HOTA"].iloc[-1] == wanted["HOTA"]


def test_commands_take_folders_of_lines(tmp_path: Path) -> None:
    folders = as_lines(tmp_path, random_scene(3))
    wanted = sf.track(*sf.read_posetrack(*folders, boxes=True)).summary.iloc[-1]
    assert answer_here("track", *folders, "--benchmark", "PoseTrack21")["combined"]["HOTA"] == wanted["HOTA"]
    answer = answer_here("compare", folders[0], f"a={folders[1]}", f"b={folders[1]}", "--benchmark", "PoseTrack21")
    assert {row["HOTA"] for row in answer["leaderboard"]} == {wanted["HOTA"]}


def test_the_benchmark_is_for_folders() -> None:
    sample = PROJECT / "data" / "sample"
    said = refused_here("track", sample / "truth.json", sample / "truth.json", "--benchmark", "PoseTrack21", status=2)
    assert "--benchmark" in said[-1]
