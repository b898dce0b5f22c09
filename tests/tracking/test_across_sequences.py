"""People who keep their identity across sequences, held against loops that follow the PoseTrack21 kit."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers import pose_official
from helpers.problems import refused
from helpers.reference import PROJECT
from spotgeo_frames.tracking.poses import HOTA_NUMBERS
from spotgeo_frames.tracking.track_sums import POSE_CURVES

N_RAW = 17


def written(folder: Path, seed: int) -> tuple[Path, Path]:
    """Random walkers in up to three videos; the tracker takes some for others, and misses all in some frames."""
    random = np.random.default_rng(seed)
    sides = folder / "truth", folder / "tracker"
    people = random.choice(30, int(random.integers(1, 5)), replace=False)
    for number in range(int(random.integers(1, 4))):
        there = [*people[random.random(len(people)) < 0.8]] or [people[0]]
        start = {who: random.uniform(80, 200, 2) for who in there}
        images: list[dict[str, Any]] = []
        annotations: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
        for time in range(int(random.integers(1, 5))):
            region = [[60, 120, 120, 60]] if random.random() < 0.3 else []
            regions = {"ignore_regions_x": region, "ignore_regions_y": [sorted(y) for y in region]}
            images.append({"id": time, "is_labeled": bool(random.random() < 0.9), **regions})
            nobody = random.random() < 0.15
            for place, who in enumerate(there):
                at = start[who] + 5 * time + random.uniform(0, 60, (N_RAW, 2))
                claimed = at + random.normal(0, 6, at.shape)
                for side, points in enumerate((at, claimed)):
                    points[random.random(N_RAW) < 0.15] = 0
                    points[[3, 4]] = 0
                    keypoints = np.column_stack([points, np.ones(N_RAW)]).ravel().tolist()
                    mixed = side and random.random() < 0.3
                    if not (side and (nobody or random.random() < 0.15)):
                        head = {"scores": [0.5] * N_RAW} if side else {"bbox_head": [0, 0, *random.uniform(15, 40, 2)]}
                        name = {"person_id": int(who) + 100 * place * mixed, "track_id": place}
                        annotations[side].append({"image_id": time, **name, "keypoints": keypoints, **head})
        for folder_of, people_of in zip(sides, annotations, strict=True):
            folder_of.mkdir(parents=True, exist_ok=True)
            document = {"images": images, "annotations": people_of}
            (folder_of / f"video{number}.json").write_text(json.dumps(document))
    return sides


def same(folders: tuple[Path, Path]) -> None:
    """`reidentify` against the loops, every number of every joint and of all."""
    result = sf.reidentify(*sf.read_posetrack(*folders))
    names = sorted(path.name for path in folders[0].glob("*.json"))
    frames = [pose_official.read_frames(*(folder / name for folder in folders), "person_id") for name in names]
    wanted = pose_official.hota_across(frames)
    for number in HOTA_NUMBERS:
        of = pose_official.AT_FIRST.get(number)
        value = wanted[number].mean(axis=0) if of is None else wanted[of][0]
        np.testing.assert_allclose(result.summary[number], value, rtol=1e-9, atol=1e-12, err_msg=number)
    for number in POSE_CURVES:
        np.testing.assert_allclose(result.curve[number], wanted[number].T.ravel(), rtol=1e-9, atol=1e-12)
    for count in ("TP", "FN", "FP"):
        assert result.curve[count].tolist() == wanted[count].T.ravel().tolist(), count


@pytest.mark.parametrize("seed", range(20))
def test_any_people_are_as_the_kit_has_them(seed: int, tmp_path: Path) -> None:
    same(written(tmp_path, seed))


def noses(rows: list[tuple[Any, int, int]], **more: Any) -> pd.DataFrame:
    """Noses at one place, by sequence, frame and person."""
    table = pd.DataFrame(rows, columns=["sequence", "frame", "person_id"])
    return table.assign(object=1, joint="nose", x=50.0, y=60.0, **more)


def numbers(truth: pd.DataFrame, predictions: pd.DataFrame, *names: str) -> list[float]:
    return sf.reidentify(truth, predictions).summary[list(names)].iloc[0].tolist()


def test_a_person_found_again_is_worth_more() -> None:
    truth = noses([("a", 1, 7), ("b", 1, 7)], head_size=20.0)
    again, anew = noses([("a", 1, 3), ("b", 1, 3)]), noses([("a", 1, 3), ("b", 1, 4)])
    assert numbers(truth, again, "DetA", "AssA") == [1, 1]
    assert numbers(truth, anew, "DetA", "AssA") == [1, 0.5]
    assert sf.pose(truth, again).summary["AssA"].iloc[0] == sf.pose(truth, anew).summary["AssA"].iloc[0] == 1


def test_fragments_go_across_sequences() -> None:
    """3, 4, 3: the two hits of 3 are of two fragments. The order of the rows is no matter."""
    truth = noses([("c", 1, 7), ("a", 1, 7), ("b", 1, 7)], head_size=20.0)
    broken = noses([("b", 1, 4), ("a", 1, 3), ("c", 1, 3)])
    whole = noses([("a", 1, 3), ("b", 1, 3), ("c", 1, 4)])
    assert numbers(truth, broken, "AssA", "FragA") == pytest.approx([(2 * 2 / 3 + 1 / 3) / 3, (2 * 1 / 3 + 1 / 3) / 3])
    assert numbers(truth, whole, "FragA") == pytest.approx([(2 * 2 / 3 + 1 / 3) / 3])


def test_a_sequence_without_predictions() -> None:
    truth = noses([("a", 1, 7), ("b", 1, 7), ("b", 2, 7)], head_size=20.0)
    result = sf.reidentify(truth, noses([("a", 1, 3)]))
    assert result.curve[["TP", "FN", "FP"]].iloc[0].tolist() == [1, 2, 0]


def test_each_frame_without_predictions_counts_the_sequence() -> None:
    truth = noses([("a", 1, 7), ("a", 2, 7), ("b", 1, 7)], head_size=20.0)
    result = sf.reidentify(truth, noses([("a", 1, 3), ("b", 1, 3)]))
    assert result.curve[["TP", "FN", "FP"]].iloc[0].tolist() == [2, 2, 0]


def test_ignored_truths_leave_with_what_they_took() -> None:
    truth = noses([("a", 1, 7), ("b", 1, 7)], head_size=20.0, ignore=[False, True])
    result = sf.reidentify(truth, noses([("a", 1, 3), ("b", 1, 3)]))
    assert result.curve[["TP", "FN", "FP"]].iloc[0].tolist() == [1, 0, 0]
    assert "ignored" in result.provenance


def test_there_are_no_intervals() -> None:
    """Sequences say nothing by themselves where identities hold across them; messages say so, and what there is."""
    result = sf.reidentify(noses([("a", 1, 7), ("b", 1, 7)], head_size=20.0), noses([("a", 1, 3), ("b", 1, 3)]))
    reason = ("ReidentifiedPoses", "across sequences", "no intervals", "pose()")
    with refused(("intervals: x", *reason)):
        sf.intervals(result)  # type: ignore[arg-type]
    with refused(("compare: matches: one", *reason)):
        sf.compare({"one": result, "other": result})  # type: ignore[dict-item]
    with refused(("match table", *reason)):
        sf.summarize(result)  # type: ignore[arg-type]


def test_what_comes_back() -> None:
    pl = pytest.importorskip("polars")
    people = sf.read_posetrack(PROJECT / "data/poses/truth", PROJECT / "data/poses/tracker", table="polars")
    result = sf.reidentify(*people, identity="object")
    assert isinstance(result.summary, pl.DataFrame)
    assert result.summary["joint"].to_list()[-1] is None
    assert result.curve.shape == (16 * 19, 2 + len(POSE_CURVES) + 3)


def test_both_sides_need_the_identity() -> None:
    truth, found = noses([("a", 1, 7)], head_size=20.0), noses([("a", 1, 3)])
    with refused(("predictions", "person_id")):
        sf.reidentify(truth, found.drop(columns="person_id"))
    with refused(("truth", "who"), ("predictions", "who")):
        sf.reidentify(truth, found, identity="who")
    with refused(("predictions", "person_id", "3")):
        sf.reidentify(truth, pd.concat([found, found.assign(object=2)]))


def test_persons_are_read(tmp_path: Path) -> None:
    truth_dir, tracker_dir = written(tmp_path, 2)
    path = max(tracker_dir.glob("*.json"), key=lambda file: file.stat().st_size)
    document = json.loads(path.read_text())
    del document["annotations"][0]["person_id"]
    path.write_text(json.dumps(document))
    truth, found = (side.objects for side in sf.read_posetrack(truth_dir, tracker_dir))
    assert [str(side["person_id"].dtype) for side in (truth, found)] == ["int64", "Int64"]
    assert found["person_id"].isna().any()
    with refused((f"{tracker_dir}", "person_id")):
        sf.reidentify(*sf.read_posetrack(truth_dir, tracker_dir))
