"""Benchmarks of tracking: files, what is taken out, classes and their averages, against trackeval."""

import contextlib
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pycocotools import mask as coder
from trackeval.datasets import BDD100K, Kitti2DBox, KittiMOTS, MOTSChallenge

import spotgeo_frames as sf
from helpers import official
from helpers.boxes import box_matrix
from helpers.commands import answer_here, refused_here, run_here
from helpers.label_files import folder_of
from helpers.problems import assert_places, refused

CAR = "Car 0 0 -1 10 20 60 70 -1 -1 -1 -1000 -1000 -1000 -10"


def loaded(dataset: Any) -> dict[Any, dict[Any, dict[str, Any]]]:
    """The sequences of each class, as a dataset of trackeval reads and preprocesses the files of the tracker "one"."""
    with contextlib.redirect_stdout(io.StringIO()):
        raw = {name: dataset.get_raw_seq_data("one", name) for name in dataset.seq_list}
        return {
            of: {name: dataset.get_preprocessed_seq_data(data, of) for name, data in raw.items()}
            for of in dataset.class_list
        }


def dataset_of(kind: Callable[[dict[str, Any]], Any], root: Path, **config: Any) -> Any:
    """A dataset of trackeval, of the truth in gt and the trackers in trackers."""
    folders = {"GT_FOLDER": str(root / "gt"), "TRACKERS_FOLDER": str(root / "trackers"), "PRINT_CONFIG": False}
    with contextlib.redirect_stdout(io.StringIO()):
        return kind(folders | config)


def kitti_line(frame: int, identity: int, kind: str, states: str, box: np.ndarray, score: str = "") -> str:
    corners = " ".join(f"{value:.2f}" for value in [*box[:2], *(box[:2] + box[2:])])
    return f"{frame} {identity} {kind} {states} -10 {corners} -1 -1 -1 -1000 -1000 -1000 -10{score}"


def kitti_scene(random: np.random.Generator, n_frames: int) -> tuple[list[str], list[str]]:
    """Objects of every class and state, regions, and a tracker that misses, invents, exchanges and confuses."""
    n = int(random.integers(0, 20))
    places, size = random.uniform(0, 250, (n, 2)), random.uniform(15, 60, (n, 2))
    if random.random() < 0.5:  # on a grid, so that several assignments are equally good
        places, size = places.round(-1), np.full((n, 2), 30.0)
    classes = ["Car", "car", "Van", "Pedestrian", "Person", "Cyclist", "Truck", "Misc", "Tram"]
    kinds = random.choice(classes, n, p=[0.3, 0.1, 0.1, 0.2, 0.1, 0.05, 0.05, 0.05, 0.05])
    truth, found = [], []
    for frame in range(n_frames):
        places = places + random.choice([-10, 0, 0, 10], places.shape)
        for k in np.flatnonzero(random.random(n) < 0.9):
            states = f"{random.choice([0, 0, 0, 1, 2, -1])} {random.choice([0, 1, 2, 2, 3, -1])}"
            truth.append(kitti_line(frame, k, kinds[k], states, np.array([*places[k], *size[k]])))
        for _ in range(random.integers(0, 3)):
            region = np.array([*random.uniform(0, 250, 2), *random.uniform(10, 120, 2)])
            truth.append(kitti_line(frame, -1, "DontCare", "-1 -1", region))
        for k in np.flatnonzero(random.random(n) < 0.9):
            box = np.array([*places[k], *size[k]]) + random.choice([0, -10, 3, 0.25], 4) * (random.random() < 0.7)
            kind = random.choice(["Car", "Pedestrian", "Cyclist"]) if random.random() < 0.1 else kinds[k]
            score = f" {random.random():.3f}"
            found.append(kitti_line(frame, k + 100 * (frame // 4), kind, "-1 -1", np.maximum(box, 0), score))
        for k in range(random.integers(0, 5)):  # false alarms, of 25 px and less among them
            box = np.array([*random.uniform(0, 250, 2), random.uniform(10, 40), random.choice([20, 25, 25.01, 40])])
            found.append(
                kitti_line(frame, 900 + k, random.choice(["Car", "Pedestrian"]), "-1 -1", box.round(2), " 0.5")
            )
    random.shuffle(truth)
    random.shuffle(found)
    return truth, found


def kitti_folders(random: np.random.Generator, root: Path) -> dict[str, int]:
    """Sequences, of which the last may be without objects on either side; returns their lengths."""
    lengths = {f"{number:04}": int(random.integers(1, 9)) for number in range(random.integers(1, 4))}
    files: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for number, (name, length) in enumerate(lengths.items()):
        for side, lines in zip(files, kitti_scene(random, length), strict=True):
            is_empty = number == 2 or random.random() < 0.1
            side[name] = "" if is_empty else "".join(f"{line}\n" for line in lines)
    folder_of(root / "gt" / "label_02", **files[0])
    folder_of(root / "trackers" / "one" / "data", **files[1])
    seqmap = "".join(f"{name} empty 000000 {length:06}\n" for name, length in lengths.items())
    (root / "gt" / "evaluate_tracking.seqmap.training").write_text(seqmap)
    return lengths


@pytest.mark.parametrize("seed", range(25))
def test_kitti_is_evaluated_as_trackeval_does(tmp_path: Path, seed: int) -> None:
    kitti_folders(np.random.default_rng(seed), tmp_path)
    sides = sf.read_benchmark(tmp_path / "gt", tmp_path / "trackers" / "one", "KITTI")
    wanted = official.numbers_of_classes(loaded(dataset_of(Kitti2DBox, tmp_path)))
    official.same_classes(sf.track(*sides, by="category"), wanted)


BDD100K_CLASSES = ["pedestrian", "rider", "car", "bus", "truck", "train", "motorcycle", "bicycle"]
BDD100K_REGIONS = ["other person", "trailer", "other vehicle"]


def bdd100k_label(identity: int, kind: str, box: np.ndarray, **attributes: bool) -> dict[str, Any]:
    corners = dict(zip(("x1", "y1", "x2", "y2"), [*box[:2].tolist(), *(box[:2] + box[2:]).tolist()], strict=True))
    return {"id": str(identity), "category": kind, "box2d": corners} | (
        {"attributes": attributes} if attributes else {}
    )


def bdd100k_scene(random: np.random.Generator, n_frames: int) -> tuple[list[dict], list[dict]]:
    """Objects of some classes, crowds and regions, and a tracker that misses, invents, exchanges and confuses."""
    n = int(random.integers(0, 25))
    places, size = random.uniform(0, 250, (n, 2)), random.uniform(15, 60, (n, 2))
    if random.random() < 0.5:
        places, size = places.round(-1), np.full((n, 2), 30.0)
    kinds = random.choice([*BDD100K_CLASSES[: random.integers(2, 8)], *BDD100K_REGIONS], n)
    crowds = random.random(n) < 0.1
    sides: tuple[list[dict], list[dict]] = ([], [])
    for frame in range(n_frames):
        places = places + random.choice([-10, 0, 0, 10], places.shape)
        truth, found = [], []
        for k in np.flatnonzero(random.random(n) < 0.9):
            marks = {"Crowd": bool(crowds[k]), "Occluded": True} if crowds[k] or random.random() < 0.8 else {}
            truth.append(bdd100k_label(k, kinds[k], np.array([*places[k], *size[k]]), **marks))
        for k in random.permutation(np.flatnonzero(random.random(n) < 0.9)):
            box = np.array([*places[k], *size[k]]) + random.choice([0, -10, 3, 0.25], 4) * (random.random() < 0.7)
            kind = random.choice(BDD100K_CLASSES) if random.random() < 0.1 or crowds[k] else kinds[k]
            found.append(bdd100k_label(k + 100 * (frame // 4), kind, np.maximum(box, 0)))
        for side, labels in zip(sides, (truth, found), strict=True):
            side.append({"name": f"{frame}.jpg", "index": frame, "labels": labels})
    return sides


def bdd100k_folders(random: np.random.Generator, root: Path) -> None:
    """Sequences, of which the last may be without objects on either side."""
    folders = root / "gt", root / "trackers" / "one" / "data"
    for folder in folders:
        folder.mkdir(parents=True)
    for number in range(random.integers(1, 4)):
        for folder, frames in zip(folders, bdd100k_scene(random, int(random.integers(1, 9))), strict=True):
            if number == 2 or random.random() < 0.1:
                frames = [frame | {"labels": []} for frame in frames]
            random.shuffle(frames)
            (folder / f"b-{number}.json").write_text(json.dumps(frames))


@pytest.mark.parametrize("seed", range(20))
def test_bdd100k_is_evaluated_as_trackeval_does(tmp_path: Path, seed: int) -> None:
    """Classes that no file has count in the averages, too, and classes of classes are sums."""
    bdd100k_folders(np.random.default_rng(seed), tmp_path)
    sides = sf.read_benchmark(tmp_path / "gt", tmp_path / "trackers" / "one", "BDD100K")
    dataset = dataset_of(BDD100K, tmp_path)
    of_classes = loaded(dataset)
    result = sf.track(*sides, by="category")
    official.same_classes(result, official.numbers_of_classes(of_classes))
    parents = sf.summarize(result, by="category_parent").set_index("category_parent")
    wanted = official.numbers_of_parents(of_classes, dataset.super_categories)
    assert set(parents.index) == set(wanted) == {"HUMAN", "VEHICLE", "BIKE"}
    for name, values in wanted.items():
        for field, value in values.items():
            assert parents.loc[name, field] == pytest.approx(np.mean(value), rel=1e-9, abs=1e-9), (name, field)


HEIGHT, WIDTH = 40, 60


def ellipse(x: float, y: float, across: float, down: float) -> np.ndarray:
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    return ((columns - x) / across) ** 2 + ((rows - y) / down) ** 2 < 1


def mots_line(frame: int, identity: int, kind: int, image: np.ndarray) -> str:
    text = coder.encode(np.asfortranarray(image.astype(np.uint8)))["counts"].decode()
    return f"{frame} {identity} {kind} {HEIGHT} {WIDTH} {text}"


def mots_scene(random: np.random.Generator, frames: range) -> tuple[list[str], list[str]]:
    """Masks of both classes, none above another, some regions, and a tracker that misses, invents and confuses."""
    n = int(random.integers(0, 8))
    places, kinds = random.uniform(0, [WIDTH, HEIGHT], (n, 2)), random.choice([1, 2, 2], n)
    truth, found = [], []
    for frame in frames:
        taken, claimed = (np.zeros((HEIGHT, WIDTH), bool) for _ in range(2))

        def add(lines: list[str], identity: int, kind: int, image: np.ndarray, taken: np.ndarray, at: int) -> None:
            image = image & ~taken
            taken |= image
            if image.any():
                lines.append(mots_line(at, identity, kind, image))

        places = places + random.normal(0, 1.5, places.shape)
        for k in np.flatnonzero(random.random(n) < 0.9):
            add(truth, 1000 * kinds[k] + k, kinds[k], ellipse(*places[k], 6, 5), taken, frame)
        for k in range(random.integers(0, 3)):
            add(truth, 10000 + k, 10, ellipse(*random.uniform(0, [WIDTH, HEIGHT]), 12, 8), taken, frame)
        for k in np.flatnonzero(random.random(n) < 0.9):
            kind = random.choice([1, 2]) if random.random() < 0.1 else kinds[k]
            image = ellipse(*(places[k] + random.normal(0, 1.5, 2)), 6, 5)
            add(found, 1000 * kind + k + 50 * ((frame - frames[0]) // 4), kind, image, claimed, frame)
        for k in range(random.integers(0, 4)):
            add(found, 900 + k, int(random.choice([1, 2])), ellipse(*random.uniform(0, 40, 2), 5, 3), claimed, frame)
    random.shuffle(truth)
    random.shuffle(found)
    return truth, found


def mots_folders(random: np.random.Generator, root: Path, first: int) -> dict[str, int]:
    """Sequences, of which the last may be without objects on either side; returns their lengths."""
    lengths = {f"{number:04}": int(random.integers(1, 9)) for number in range(random.integers(1, 4))}
    files: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for number, (name, length) in enumerate(lengths.items()):
        for side, lines in zip(files, mots_scene(random, range(first, first + length)), strict=True):
            is_empty = number == 2 or random.random() < 0.1
            side[name] = "" if is_empty else "".join(f"{line}\n" for line in lines)
    folder_of(root / "trackers" / "one" / "data", **files[1])
    if first:
        for name, text in files[0].items():
            folder_of(root / "gt" / name / "gt", gt=text)
            (root / "gt" / name / "seqinfo.ini").write_text(f"[Sequence]\nseqLength={lengths[name]}\n")
    else:
        folder_of(root / "gt" / "label_02", **files[0])
        seqmap = "".join(f"{name} empty 000000 {length - 1:06}\n" for name, length in lengths.items())
        (root / "gt" / "evaluate_mots.seqmap.val").write_text(seqmap)
    return lengths


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("benchmark", ["MOTS", "KITTI-MOTS"])
def test_masks_are_evaluated_as_trackeval_does(tmp_path: Path, benchmark: str, seed: int) -> None:
    of_kitti = benchmark == "KITTI-MOTS"
    lengths = mots_folders(np.random.default_rng(seed), tmp_path, 0 if of_kitti else 1)
    sides = sf.read_benchmark(tmp_path / "gt", tmp_path / "trackers" / "one", benchmark)
    config = {} if of_kitti else {"SKIP_SPLIT_FOL": True}
    dataset = dataset_of(KittiMOTS if of_kitti else MOTSChallenge, tmp_path, SEQ_INFO=lengths, **config)
    official.same_classes(sf.track(*sides, by="category"), official.numbers_of_classes(loaded(dataset)))


@pytest.mark.parametrize(
    ("benchmark", "kind", "seqmap", "last"),
    [
        ("KITTI", Kitti2DBox, "evaluate_tracking.seqmap.training", 4),
        ("KITTI-MOTS", KittiMOTS, "evaluate_mots.seqmap.val", 3),
    ],
)
def test_seqmaps_list_the_sequences(tmp_path: Path, benchmark: str, kind: Any, seqmap: str, last: int) -> None:
    """That of KITTI gives the count of frames, that of KITTI MOTS the last frame. Other sequences are left out."""
    folder_of(tmp_path / "gt" / "label_02", **dict.fromkeys(["0000", "0001", "0002", "0009"], ""))
    folder_of(tmp_path / "trackers" / "one" / "data", **dict.fromkeys(["0000", "0001", "0002"], ""))
    path = tmp_path / "gt" / seqmap
    path.write_text("".join(f"000{number} empty 000000 {last:06}\n" for number in range(3)))
    for given in (tmp_path / "gt", path):
        frames = sf.read_benchmark(given, tmp_path / "trackers" / "one", benchmark)[0].frames
        assert frames is not None
        assert frames.groupby("sequence").size().to_dict() == dataset_of(kind, tmp_path).seq_lengths
    path.write_text(f"0005 empty 000000 {last:06}\n")
    with refused((str(tmp_path / "gt" / "label_02"), "0005.txt is missing", "seqmap")):
        sf.read_benchmark(tmp_path / "gt", None, benchmark)


VISDRONE_CLASSES = {1: "pedestrian", 4: "car", 5: "van", 6: "truck", 9: "bus"}


def visdrone_scene(random: np.random.Generator, n_frames: int) -> tuple[np.ndarray, np.ndarray]:
    """Lines of all categories, on whole pixels: regions and others over and beside objects of the five classes."""
    n = int(random.integers(0, 25))
    places, size, kinds = random.integers(0, 80, (n, 2)), random.integers(1, 20, (n, 2)), random.integers(0, 12, n)
    sides: tuple[list[list[int]], list[list[int]]] = ([], [])
    for frame in range(1, n_frames + 1):
        places = places + random.integers(-2, 3, places.shape)
        for k in np.flatnonzero(random.random(n) < 0.9):
            large = 2 if kinds[k] in (0, 11) else 1
            rest = [int(random.integers(0, 2)), kinds[k], 0, random.integers(0, 3)]
            sides[0].append([frame, k, *places[k], *(large * size[k]), *rest])
        for k in np.flatnonzero(random.random(n) < 0.9):
            kind = random.integers(0, 12) if random.random() < 0.1 else kinds[k]
            place = places[k] + random.integers(-2, 3, 2)
            sides[1].append([frame, k + 100 * (frame // 4), *place, *size[k], 1, kind, -1, -1])
    return tuple(np.array(side, int).reshape(-1, 10) for side in sides)  # type: ignore[return-value]


def visdrone_kept(lines: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """The lines of classes that count, but for those that lie half in regions, by counting pixels."""
    kept = []
    for line in lines:
        image = np.zeros((200, 200), bool)
        for _, _, x, y, w, h, _, kind, *_ in truth[truth[:, 0] == line[0]]:
            if kind in (0, 11):
                image[y + 50 : y + h + 50, x + 50 : x + w + 50] = True
        x, y, w, h = line[2] + 50, line[3] + 50, line[4], line[5]
        kept.append(line[7] in VISDRONE_CLASSES and image[y : y + h, x : x + w].mean() < 0.5)
    return lines[np.array(kept, bool)]


@pytest.mark.parametrize("seed", range(8))
def test_visdrone_leaves_out_what_lies_in_regions(tmp_path: Path, seed: int) -> None:
    """Regions count together, where they overlap once, and whatever lies in them leaves before anything is matched."""
    random = np.random.default_rng(seed)
    tables: tuple[list[pd.DataFrame], list[pd.DataFrame]] = ([], [])
    ends = {}
    for number in range(3):
        lines = visdrone_scene(random, 0 if number == 2 else 8)
        for side, of, folder in zip(lines, tables, ("gt", "data"), strict=True):
            text = "".join(",".join(map(str, line)) + "\n" for line in side)
            folder_of(tmp_path / folder, **{f"v{number}": text})
            rows = pd.DataFrame(visdrone_kept(side, lines[0])[:, :8], columns=[*"fixywhmc"])
            rows = rows.rename(columns={"f": "frame", "i": "object"}).assign(sequence=f"v{number}")
            of.append(rows.assign(category=rows["c"].map(VISDRONE_CLASSES)))
        ends[f"v{number}"] = max((int(side[:, 0].max()) for side in lines if len(side)), default=0)
    truth, found = (pd.concat(of, ignore_index=True) for of in tables)
    frames = pd.DataFrame([(name, frame) for name, end in ends.items() for frame in range(1, end + 1)])
    sides = sf.read_benchmark(tmp_path / "gt", tmp_path / "data", "VisDrone")
    for side, rows in zip(sides, (truth, found), strict=True):
        key = ["sequence", "frame", "object", "x", "y", "w", "h", "category"]
        of_lines = rows[key].sort_values(key[:2], kind="stable", ignore_index=True)
        assert side.objects[key].astype(object).to_numpy().tolist() == of_lines.to_numpy().tolist()
    if len(frames):
        frames.columns = pd.Index(["sequence", "frame"])
        boxes = [rows.astype(dict.fromkeys("xywh", float)) for rows in (truth, found)]
        wanted = official.evaluate_classes(*boxes, box_matrix, frames, [*VISDRONE_CLASSES.values()])
        official.same_classes(sf.track(*sides, by="category"), wanted)


def test_uavdt_leaves_out_what_lies_in_regions(tmp_path: Path) -> None:
    """A car of which half lies in regions leaves on both sides; tracks have no kind, whatever files tell."""
    boxes = [f"{frame},{k},{x},0,40,40" for frame in (1, 2) for k, x in enumerate((0, 81, 78, 300), 1)]
    gt = folder_of(tmp_path / "GT")
    for name, rows in {"M0101_gt": boxes, "M0101_gt_whole": boxes[:7], "M0201_gt": boxes}.items():
        (gt / f"{name}.txt").write_text("".join(f"{row},1,1,{'2' if 'whole' in name else '-1'}\n" for row in rows))
    regions = [f"{frame},{-k},{x},0,10,99,1,-1,-1\n" for frame in (1, 2) for k, x in enumerate((99, 105, 110), 1)]
    (gt / "M0101_gt_ignore.txt").write_text("".join(regions))
    data = folder_of(tmp_path / "data", M0101="\n".join(f"{row},0.9,-1,-1,-1" for row in boxes), M0201="")
    for given in (gt, tmp_path):
        truth, found = sf.read_benchmark(given, data, "UAVDT")
        assert truth.objects[["sequence", "frame", "object"]].to_numpy().tolist() == [
            *[["M0101", 1, 1], ["M0101", 1, 3], ["M0101", 1, 4], ["M0101", 2, 1], ["M0101", 2, 3]],
            *(["M0201", frame, k] for frame in (1, 2) for k in (1, 2, 3, 4)),
        ]
        assert found.objects["object"].tolist() == [1, 3, 4] * 2
        assert {*truth.objects["category"], *found.objects["category"]} == {"vehicle"}
        assert truth.frames is not None
        assert truth.frames.groupby("sequence").size().to_dict() == {"M0101": 2, "M0201": 2}
    answer = answer_here("track", gt, data, "--benchmark", "UAVDT")
    assert answer["combined"]["TP"] == 5
    (data / "M0101.txt").write_text(f"{boxes[0]}\n")
    with refused((f"{data / 'M0101.txt'}, line 1", "6 fields")):
        sf.read_benchmark(gt, data, "UAVDT")


def test_images_are_no_videos_of_visdrone(tmp_path: Path) -> None:
    folder_of(tmp_path / "gt", v="1,1,0,0,9,9,1,4,0,0")
    path = folder_of(tmp_path / "data", v="0,0,9,9,1,4,-1,-1") / "v.txt"
    with refused((f"{path}, line 1", "8 fields")):
        sf.read_benchmark(tmp_path / "gt", tmp_path / "data", "VisDrone")


def kitti_sides(root: Path, truth: list[str], found: list[str]) -> tuple[sf.Annotations, sf.Annotations]:
    """One video of three frames, of these objects after frame and id."""
    folder_of(root / "gt" / "label_02", **{"0000": "\n".join(f"0 {k} {line}" for k, line in enumerate(truth))})
    (root / "gt" / "evaluate_tracking.seqmap.val").write_text("0000 empty 000000 000003\n")
    folder_of(root / "data", **{"0000": "\n".join(f"0 {k} {line}" for k, line in enumerate(found))})
    return sf.read_benchmark(root / "gt", root / "data", "KITTI")


def kitti_object(kind: str, x: float, height: float = 40, states: str = "0 0") -> str:
    return f"{kind} {states} -10 {x} 100 {x + 40} {100 + height} -1 -1 -1 -1000 -1000 -1000 -10"


def test_what_kitti_takes_out(tmp_path: Path) -> None:
    truths = [
        *[kitti_object("Car", 0), kitti_object("Van", 100), kitti_object("Car", 200, states="1 0")],
        *[kitti_object("Car", 300, states="0 3"), kitti_object("Car", 400, states="0 2"), kitti_object("Truck", 500)],
        *[kitti_object("Person_sitting", 600), kitti_object("Pedestrian", 700, height=20)],
    ]
    region = kitti_object("DontCare", 800, states="-1 -1")
    claims = [kitti_object("Car", x) for x in (0, 100, 200, 300, 400, 500)]
    claims += [kitti_object("Pedestrian", 600), kitti_object("Pedestrian", 700, height=20)]
    claims += [kitti_object("Car", 819), kitti_object("Car", 821), kitti_object("Van", 0)]  # 21 and 19 of 40 px inside
    claims += [kitti_object("Car", 1000, height=25), kitti_object("Car", 1100, height=25.5)]
    truth, found = kitti_sides(tmp_path, [*truths, region], claims)
    assert list(zip(truth.objects["object"], truth.objects["category"], strict=True)) == [
        *[(0, "car"), (4, "car"), (7, "pedestrian")]
    ]
    assert found.objects["object"].tolist() == [0, 4, 5, 7, 9, 12]
    assert truth.categories is not None
    assert truth.categories["category"].tolist() == ["car", "pedestrian"]
    assert truth.frames is not None
    assert truth.frames["frame"].tolist() == [0, 1, 2]
    assert not {"crowd", "ignore"} & {*truth.objects, *found.objects}


def test_a_benchmark_without_a_tracker_and_other_tables(tmp_path: Path) -> None:
    kitti_sides(tmp_path, [CAR], [CAR])
    truth, found = sf.read_benchmark(tmp_path / "gt", None, "KITTI", table="polars")
    assert (len(truth.objects), len(found.objects)) == (1, 0)
    assert type(truth.objects).__module__.startswith("polars")
    (tmp_path / "gt" / "evaluate_tracking.seqmap.val").unlink()
    frames = sf.read_benchmark(tmp_path / "gt" / "label_02", tmp_path / "data", "KITTI")[0].frames
    assert frames is not None
    assert frames["frame"].tolist() == [0]  # the last row of either side


def test_files_of_benchmarks_that_are_refused(tmp_path: Path) -> None:
    truth, found = tmp_path / "gt", tmp_path / "data"
    kitti_sides(tmp_path, [CAR], [CAR])
    label, claim = truth / "label_02" / "0000.txt", found / "0000.txt"

    def read() -> None:
        sf.read_benchmark(truth, found, "KITTI")

    claim.write_text(f"0 1 {CAR}\n0 2 {CAR} x\n")
    with refused((f"{claim}, line 2", "18 fields")):
        read()
    claim.write_text(f"0 1 {CAR}\n0 1 {CAR}\n")
    with refused((f"{claim}, line 2", "track 1", "line 1")):
        read()
    claim.write_text(f"3 1 {CAR}\n")
    with refused((str(found), "1 object is in frames that the truth does not have", "frame 3")):
        read()
    claim.write_text(f"0 1 {CAR.replace('Car', 'Boat')}\n")
    with refused((str(found), "1 object is of category 'Boat'", "KITTI", "car, pedestrian", "object 1")):
        read()
    claim.rename(found / "0001.txt")
    with refused((str(found), "0000.txt is missing"), (str(found / "0001.txt"), "no sequence 0001")):
        read()
    (found / "0001.txt").rename(claim)
    claim.write_text("")
    label.write_bytes(b"\xff\xfe\0")
    with refused((f"{label}, line 1", "UTF-8")):
        read()
    label.write_text("")
    (truth / "evaluate_tracking.seqmap.val").write_text("0000 empty 000000 9999999\n")
    with refused((f"{truth / 'evaluate_tracking.seqmap.val'}, line 1", "count of frames")):
        read()
    (truth / "evaluate_tracking.seqmap.val").unlink()
    label.write_text(f"9007199254740991 1 {CAR}\n")
    with refused((str(truth), "more than 10,000,000 frames")):
        read()
    with refused(("benchmark", "'KITTY'", "KITTI"), error=ValueError):
        sf.read_benchmark(truth, found, "KITTY")
    with refused((str(tmp_path / "nothing"), "no such file or folder")):
        sf.read_benchmark(tmp_path / "nothing", found, "KITTI")


def test_masks_that_overlap_are_refused(tmp_path: Path) -> None:
    lines = [mots_line(0, k, 2, ellipse(20 + 3 * k, 20, 5, 5)) for k in range(2)]
    truth = folder_of(tmp_path / "gt", **{"0000": lines[0]})
    found = folder_of(tmp_path / "data", **{"0000": "\n".join(lines)})
    with refused((str(found), "1 object is on top of another", "object 1")):
        sf.read_benchmark(truth, found, "KITTI-MOTS")


def test_attributes_without_crowd(tmp_path: Path) -> None:
    """A label that says nothing of crowds is none; `ignored` plays no part; what lies in a crowd leaves."""
    car, bus = np.array([0, 0, 40, 40]), np.array([100, 0, 40, 40])
    truth = [bdd100k_label(1, "car", car, Occluded=True, Ignored=True), bdd100k_label(2, "bus", bus, Crowd=True)]
    for name, labels in {
        "gt": truth,
        "data": [bdd100k_label(k, "truck", box) for k, box in enumerate((car, bus))],
    }.items():
        folder_of(tmp_path / name)
        (tmp_path / name / "b.json").write_text(json.dumps([{"name": "1.jpg", "index": 0, "labels": labels}]))
    sides = sf.read_benchmark(tmp_path / "gt", tmp_path / "data", "BDD100K")
    assert [side.objects["object"].tolist() for side in sides] == [[1], [0]]


def test_frames_of_bdd100k_have_to_agree(tmp_path: Path) -> None:
    bdd100k_folders(np.random.default_rng(0), tmp_path)
    [path, *_] = sorted((tmp_path / "trackers" / "one" / "data").iterdir())
    frames = json.loads(path.read_text())
    path.write_text(json.dumps(frames[1:]))
    with refused((str(tmp_path / "trackers"), "1 frame is missing")):
        sf.read_benchmark(tmp_path / "gt", tmp_path / "trackers" / "one", "BDD100K")


@pytest.mark.parametrize("benchmark", ["KITTI", "BDD100K"])
def test_the_command_has_every_class(tmp_path: Path, benchmark: str) -> None:
    """The combined numbers weigh detections, and the average weighs classes."""
    folders = {"KITTI": kitti_folders, "BDD100K": bdd100k_folders}
    folders[benchmark](np.random.default_rng(4), tmp_path)
    truth, tracker = tmp_path / "gt", tmp_path / "trackers" / "one"
    result = sf.track(*sf.read_benchmark(truth, tracker, benchmark), by="category")
    words = ["track", truth, tracker, "--benchmark", benchmark]
    answer = answer_here(*words)
    rows = result.summary[result.summary["sequence"].isna()].set_index("category")
    assert answer["combined"]["HOTA"] == rows["HOTA"].iloc[-1]
    assert answer["class_average"]["HOTA"] == rows["HOTA"].iloc[-2]
    assert {row["value"]: row["MOTA"] for row in answer["by"]["category"]} == rows["MOTA"].iloc[:-2].to_dict()
    assert ("category_parent" in answer["by"]) == (benchmark == "BDD100K")
    assert answer["sequences"].keys() == {*result.summary["sequence"].dropna()}
    assert answer_here(*words, "--out", tmp_path / "out") == answer
    assert sf.load(tmp_path / "out").summary.equals(result.summary)
    compared = answer_here("compare", truth, f"a={tracker}", f"b={tracker}", "--benchmark", benchmark)
    assert {row["HOTA"] for row in compared["leaderboard"]} == {answer["combined"]["HOTA"]}
    for command in (words, ["compare", truth, f"a={tracker}", f"b={tracker}", "--benchmark", benchmark]):
        said = refused_here(*command, "--by", "truth_h:2", status=2)[-1]
        assert_places([said], ("Error: --by", "by class", "sf.track", "sf.read_benchmark"))


def test_the_command_takes_the_classes_of_a_benchmark(tmp_path: Path) -> None:
    """They are in the answer anyway; KITTI has no classes of classes, and what is asked for has to be there."""
    bdd100k_folders(np.random.default_rng(4), tmp_path / "bdd100k")
    words = ["track", tmp_path / "bdd100k/gt", tmp_path / "bdd100k/trackers/one", "--benchmark", "BDD100K"]
    answer = answer_here(*words)
    assert {"HUMAN", "VEHICLE", "BIKE"} == {row["value"] for row in answer["by"]["category_parent"]}
    for by in ("category", "category_parent"):
        assert answer_here(*words, "--by", by) == answer
    assert "category*category_parent" in refused_here(*words, "--by", "category*category_parent", status=2)[-1]
    kitti_folders(np.random.default_rng(4), tmp_path / "kitti")
    words = ["track", tmp_path / "kitti/gt", tmp_path / "kitti/trackers/one", "--benchmark", "KITTI"]
    assert "only category;" in refused_here(*words, "--by", "category_parent", status=2)[-1]


def test_conditions_of_a_class_of_a_benchmark(tmp_path: Path) -> None:
    """The rows of one class are evaluated as the class is, since what a kit takes out is taken out before."""
    bdd100k_folders(np.random.default_rng(3), tmp_path)
    sides = sf.read_benchmark(tmp_path / "gt", tmp_path / "trackers" / "one", "BDD100K")
    summary = sf.track(*sides, by="category").summary
    alone = [side._replace(objects=side.objects[side.objects["category"] == "rider"]) for side in sides]
    result = sf.track(*alone, by={"truth_h": [0, 40, np.inf]})
    assert len(result.summary) > 0
    of_class = summary[summary["sequence"].isna() & (summary["category"] == "rider")]
    assert sf.track(*alone).summary["HOTA"].iloc[-1] == of_class["HOTA"].iloc[0] > 0


def test_a_truth_with_scores_keeps_its_regions(tmp_path: Path) -> None:
    """Labels that a person has reviewed may have scores; trackeval reads the class of a line, however long it is."""
    truth = [kitti_object("Car", 0), kitti_object("DontCare", 800, states="-1 -1")]
    claims = [kitti_object("Car", 0), kitti_object("Car", 801)]
    sides = kitti_sides(tmp_path, [f"{line} 1" for line in truth], [f"{line} 0.9" for line in claims])
    assert [side.objects["object"].tolist() for side in sides] == [[0], [0]]


def test_an_id_of_two_classes_in_a_frame_is_refused(tmp_path: Path) -> None:
    folder_of(tmp_path / "gt", **{"0000": f"0 1 {CAR}"})
    both = f"0 1 {CAR}\n0 1 {CAR.replace('Car', 'Pedestrian')}"
    path = folder_of(tmp_path / "data", **{"0000": both}) / "0000.txt"
    with refused((f"{path}, line 2", "track 1", "line 1")):
        sf.read_benchmark(tmp_path / "gt", tmp_path / "data", "KITTI")


def test_an_overlap_of_a_half_may_fall_on_the_other_side(tmp_path: Path) -> None:
    """Corners become a place and a size when a file is read, and the overlap of these is rounded otherwise."""
    line = "Car 0 0 -10 {} 140.52 {} 166.22 -1 -1 -1 -1000 -1000 -1000 -10"
    folder_of(tmp_path / "gt", **{"0000": f"0 1 {line.format(43.27, 116.77)}"})
    folder_of(tmp_path / "data", **{"0000": f"0 1 {line.format(67.77, 141.27)}"})
    truth, found = sf.read_benchmark(tmp_path / "gt", tmp_path / "data", "KITTI")
    assert sf.track(truth, found, by="category").summary["IDTP"].iloc[-1] == 1
    corners = np.array([[43.27, 140.52, 116.77, 166.22]]), np.array([[67.77, 140.52, 141.27, 166.22]])
    overlap = Kitti2DBox._calculate_box_ious(*corners, box_format="x0y0x1y1")
    assert overlap[0, 0] < 0.5


def test_commands_that_take_classes_together_say_so(tmp_path: Path) -> None:
    kitti_folders(np.random.default_rng(4), tmp_path)
    words = [tmp_path / "gt", tmp_path / "trackers" / "one", "--benchmark", "KITTI"]
    hota = answer_here("track", *words)["combined"]["HOTA"]
    kinds = answer_here("diagnose", *words)["kinds"]
    assert [row["HOTA"] - row["HOTA_gain"] for row in kinds] == pytest.approx([hota] * len(kinds))
    done = run_here("sweep", *words, "--json")
    assert "warning: sweep: KITTI evaluates each class by itself" in done.err
