"""Quirks of trackeval, poseval and the PoseTrack21 kit: tiny scenes worked out by hand; docs/quirks.md lists them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers import official
from helpers.boxes import NONE, box_matrix, boxes
from helpers.problems import refused
from spotgeo_frames.geometries.joints import RAW_JOINTS

HEAD = [0.0, 0.0, 30.0, 40.0]  # a diagonal of 50 px, so that a head has 0.6 * 50 = 30 px
NOBODY = [0.0] * 51


def pose_at(x: float, y: float) -> list[float]:
    """PoseTrack's seventeen joints in a row, 40 px apart; the ears are never annotated."""
    return [
        value
        for position, name in enumerate(RAW_JOINTS)
        for value in ((0.0, 0.0, 0.0) if "ear" in name else (x + 40 * position, y, 1.0))
    ]


def posetrack(
    folder: Path,
    truth: dict[int, list[tuple[int, list[float]]]],
    predictions: dict[int, list[tuple[int, list[float]]]],
    unlabelled: tuple[int, ...] = (),
    name: str = "walk",
) -> tuple[Path, Path]:
    """Writes one sequence: by image id the identities and joints of its people."""
    images = [
        {"id": number, "is_labeled": number not in unlabelled, "ignore_regions_x": [], "ignore_regions_y": []}
        for number in truth
    ]
    sides = folder / "truth", folder / "predictions"
    for side, people, more in zip(
        sides, (truth, predictions), ({"bbox_head": HEAD}, {"scores": [0.5] * 17}), strict=True
    ):
        annotations = [
            {"image_id": number, "track_id": identity, "keypoints": joints, **more}
            for number, of_image in people.items()
            for identity, joints in of_image
        ]
        side.mkdir(parents=True, exist_ok=True)
        (side / f"{name}.json").write_text(json.dumps({"images": images, "annotations": annotations}))
    return sides


def nose(folders: tuple[Path, Path], *names: str) -> list[Any]:
    """Numbers of one joint of the first sequence."""
    summary = sf.pose(*sf.read_posetrack(*folders)).summary
    assert summary["joint"].iloc[0] == "nose"
    return summary[list(names)].iloc[0].tolist()


def scored(truth: list[tuple[Any, ...]], predictions: list[tuple[Any, ...]], frames: pd.DataFrame) -> pd.DataFrame:
    """The summary of tracks of boxes, after trackeval agreed with all of it."""
    sides = boxes(truth), boxes(predictions)
    result = sf.track(sf.Annotations(sides[0], frames), sides[1])
    official.same(result, official.evaluate(*sides, box_matrix, frames))
    return result.summary


def frames_of(*counts: int) -> pd.DataFrame:
    """Sequences 1, 2, ... with so many frames each."""
    rows = [(sequence, frame) for sequence, count in enumerate(counts, 1) for frame in range(1, count + 1)]
    return pd.DataFrame(rows, columns=["sequence", "frame"])


def test_mota_divides_by_all_truths() -> None:
    """Of four truths three are found, and one prediction is wrong: 1 - (1 + 1 + 0) / 4, not 1 - 2 / 3."""
    truth = [(1, frame, 1, 0, 0) for frame in (1, 2, 3, 4)]
    predictions = [(1, frame, 7, 0, 0) for frame in (1, 2, 3)] + [(1, 4, 7, 500, 0)]
    row = scored(truth, predictions, frames_of(4)).iloc[-1]
    assert row[["TP", "FN", "FP", "IDSW"]].tolist() == [3, 1, 1, 0]
    assert row["MOTA"] == 0.5


def test_a_switch_is_counted_however_long_the_gap() -> None:
    """The truth is matched with 7 in frame 1, missed in frames 2 to 4, and matched with 8 in frame 5."""
    truth = [(1, frame, 1, 0, 0) for frame in range(1, 6)]
    far = [(1, frame, 9, 500, 0) for frame in (2, 3, 4)]
    row = scored(truth, [(1, 1, 7, 0, 0), *far, (1, 5, 8, 0, 0)], frames_of(5)).iloc[-1]
    assert row[["IDSW", "Frag"]].tolist() == [1, 1]
    assert scored(truth, [(1, 1, 7, 0, 0), *far, (1, 5, 7, 0, 0)], frames_of(5))["IDSW"].iloc[-1] == 0


def test_a_sequence_without_truth_has_a_mota_of_0_and_their_sum_has_not() -> None:
    """Two sequences with one false alarm each: 0 by itself, and -(1 + 1) / max(1, 0) together."""
    predictions = [(1, 1, 7, 0, 0), (2, 1, 7, 0, 0)]
    official_frames = frames_of(1, 1)
    result = sf.track(sf.Annotations(NONE, official_frames), boxes(predictions))
    official.same(result, official.evaluate(NONE, boxes(predictions), box_matrix, official_frames))
    assert result.summary["MOTA"].tolist() == [0, 0, -2]
    assert result.summary["FP"].tolist() == [1, 1, 2]


def test_shares_of_nothing_are_0_and_loc_a_is_1() -> None:
    row = scored([(1, 1, 1, 0, 0)], [(1, 1, 7, 500, 0)], frames_of(1)).iloc[-1]
    assert row[["HOTA", "DetA", "AssA", "DetRe", "DetPr", "MOTP", "IDF1", "IDP", "IDR"]].tolist() == [0] * 9
    assert row["LocA"] == 1


@pytest.mark.parametrize(
    ("found", "wanted"), [((1, 2, 3, 4), [0, 1, 0]), ((1, 2, 3, 4, 5), [1, 0, 0]), ((1,), [0, 1, 0]), ((), [0, 0, 1])]
)
def test_coverage_of_exactly_80_and_20_percent_is_partly_tracked(found: tuple[int, ...], wanted: list[int]) -> None:
    truth = [(1, frame, 1, 0, 0) for frame in range(1, 6)]
    predictions = [(1, frame, 7, 0 if frame in found else 500, 0) for frame in range(1, 6)]
    assert scored(truth, predictions, frames_of(5))[["MT", "PT", "ML"]].iloc[-1].tolist() == wanted


def test_clear_and_hota_forgive_the_last_bit_and_identity_does_not() -> None:
    """A similarity one step of float64 below 0.5, which trackeval's eps covers where it is used."""
    just_below = np.nextafter(0.5, 0)

    def similarity(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
        return np.full(len(truth), just_below)

    def matrix(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
        return np.full((len(truth), len(predictions)), just_below)

    side = boxes([(1, 1, 1, 0, 0)])
    result = sf.track(side, side, similarity)
    official.same(result, official.evaluate(side, side, matrix, frames_of(1)))
    assert result.summary[["TP", "IDTP"]].iloc[-1].tolist() == [1, 0]
    assert result.curve.loc[result.curve["alpha"].round(2) == 0.5, "DetA"].tolist() == [1, 1]
    assert sf.match(side, side, similarity=similarity, threshold=0.5)["outcome"].tolist() == ["FN", "FP"]


def test_rhota_of_the_kit_is_owta_of_trackeval() -> None:
    """One joint in four frames, found in three, by two tracks: DetRe = 3/4; c / (t + p - c) is 2/4, 2/4 and 1/4."""
    points = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3, 4], "object": 1, "x": 5.0, "y": 5.0})
    found = points[:3].assign(object=[1, 1, 2])
    tracks = sf.track(points, found).summary.iloc[-1]
    joints = points.assign(joint="tail", head_size=1.0), found.assign(joint="tail")
    row = sf.pose(*joints).summary.iloc[0]
    assert tracks["OWTA"] == pytest.approx(np.sqrt(3 / 4 * 5 / 12))
    assert row["RHOTA"] < tracks["OWTA"], "the kit counts all four joints as missed in the frame without predictions"
    assert row["RHOTA"] == pytest.approx(np.sqrt(3 / 7 * 5 / 12))


def test_frames_that_are_not_labelled_are_left_out_whoever_is_annotated(tmp_path: Path) -> None:
    """Four images of one person; nobody is predicted in the second.

    poseval counts every image with an annotation but the last: three truths, one miss and one false positive for the
    image without predictions. As the PoseTrack21 kit does, we leave the second out where it is not labelled.
    """
    truth = {number: [(1, pose_at(50, 50))] for number in (1, 2, 3, 4)}
    predictions = {number: [(7, pose_at(50, 50))] for number in (1, 3, 4)}
    names = ["objects", "misses", "false_positives", "mota", "ap_rec"]
    labelled = nose(posetrack(tmp_path / "labelled", truth, predictions), *names)
    assert labelled == pytest.approx([3, 1, 1, 100 * (1 - 2 / 3), 75]), "poseval's numbers in either case"
    assert nose(posetrack(tmp_path / "not", truth, predictions, (2,)), *names) == [2, 0, 0, 100, 100]


def test_joints_beyond_the_left_and_upper_border_are_not_there(tmp_path: Path) -> None:
    """poseval knows a joint at (-5, 50) and at (0, 50); the PoseTrack21 kit does not, and neither do we."""
    truth = {number: [(1, pose_at(50, 50))] for number in (1, 2)}
    claims = pose_at(50, 50)
    claims[:2], claims[3:5] = [-5, 50], [50, 0]
    folders = posetrack(tmp_path, truth, {number: [(7, claims)] for number in (1, 2)})
    objects = sf.read_posetrack(*folders)[1].objects
    assert objects.groupby("frame")["joint"].agg(list).map(len).tolist() == [13, 13]
    assert not {RAW_JOINTS[0], RAW_JOINTS[1]} & set(objects["joint"])
    assert nose(folders, "misses", "false_positives", "ap_pre") == [1, 0, 0]


def test_joints_beyond_the_right_and_lower_border_count(tmp_path: Path) -> None:
    """Neither kit knows how large an image is, so a nose at (1e6, 1e6) is a false positive in all of them."""
    truth = {number: [(1, pose_at(50, 50))] for number in (1, 2)}
    claims = pose_at(50, 50)
    claims[:2] = [1e6, 1e6]
    folders = posetrack(tmp_path, truth, {number: [(7, claims)] for number in (1, 2)})
    assert nose(folders, "misses", "false_positives", "ap_rec") == [1, 1, 0]


def test_the_third_number_of_a_joint_does_not_matter(tmp_path: Path) -> None:
    joints = pose_at(50, 50)
    joints[2] = 0
    truth = {number: [(1, joints)] for number in (1, 2)}
    assert nose(posetrack(tmp_path, truth, {n: [(7, joints)] for n in (1, 2)}), "objects", "detections") == [1, 1]


def test_people_without_joints_are_nobody(tmp_path: Path) -> None:
    """In the first image the only annotated person has no joint.

    poseval keeps that person, so the image has truth: no miss, and one false positive for each predicted joint. Here
    the image has nobody, and in such an image poseval's rule counts one miss and one false positive for each joint.
    """
    truth = {1: [(1, NOBODY)], 2: [(1, pose_at(50, 50))], 3: [(1, pose_at(50, 50))]}
    predictions = {number: [(7, pose_at(50, 50))] for number in (1, 2, 3)}
    found = nose(posetrack(tmp_path, truth, predictions), "objects", "detections", "misses", "false_positives")
    assert found == [2, 1, 1, 1]


def test_sequences_of_a_single_frame_add_nothing_to_clear(tmp_path: Path) -> None:
    """poseval leaves out the last frame, and stops with an error where none is left."""
    people = {1: [(1, pose_at(50, 50))], 2: [(1, pose_at(50, 50))]}
    posetrack(tmp_path, people, people)
    folders = posetrack(tmp_path, {1: people[1]}, {1: people[1]}, name="still")
    summary = sf.pose(*sf.read_posetrack(*folders)).summary
    noses = summary[summary["joint"] == "nose"].set_index("sequence")
    assert noses.loc["still", "objects"] == 0
    assert pd.isna(noses.loc["still", "mota"])
    assert noses.loc["still", "ap"] == 100, "average precision has the last frame, too"
    assert noses["objects"].tolist()[-1] == 1


def test_images_are_paired_by_id(tmp_path: Path) -> None:
    """The kits pair them by their place in the file; here another order of the predictions' images changes nothing."""
    truth = {1: [(1, pose_at(50, 50))], 2: [(1, pose_at(500, 500))], 3: [(1, pose_at(50, 50))]}
    folders = posetrack(tmp_path, truth, truth)
    path = folders[1] / "walk.json"
    document = json.loads(path.read_text())
    path.write_text(json.dumps({**document, "images": document["images"][::-1]}))
    assert nose(folders, "objects", "detections", "ap") == [2, 2, 100]


def test_an_identity_twice_is_refused_in_unlabelled_frames(tmp_path: Path) -> None:
    person = pose_at(50, 50)
    truth = {1: [(1, person), (1, person)], 2: [(1, person)]}
    folders = posetrack(tmp_path, truth, {1: [], 2: []}, unlabelled=(1,))
    with refused(f"{folders[0] / 'walk.json'}: annotations[1].track_id"):
        sf.read_posetrack(*folders)


def test_identities_may_be_of_any_size(tmp_path: Path) -> None:
    """poseval refuses those from 10,000 on."""
    people = {number: [(10_000 + 1, pose_at(50, 50))] for number in (1, 2, 3)}
    assert nose(posetrack(tmp_path, people, people), "objects", "switches", "mota") == [2, 0, 100]


def test_motp_of_a_joint_is_its_own(tmp_path: Path) -> None:
    """Each distance counts once for being near and once for being matched: a nose 3 px off is 0.1 heads off."""
    truth = {number: [(1, pose_at(50, 50))] for number in (1, 2)}
    claims = pose_at(50, 50)
    claims[0] += 3
    folders = posetrack(tmp_path, truth, {number: [(7, claims)] for number in (1, 2)})
    motp = sf.pose(*sf.read_posetrack(*folders)).summary["motp"].head(16)
    assert motp.tolist() == pytest.approx([100 * (1 - 2 * 0.1), *[100] * 14, (80 + 14 * 100) / 15])


@pytest.mark.parametrize(("wrong", "wanted"), [(range(100), 50), (range(100, 200), 25)])
def test_of_equal_scores_the_last_in_the_file_comes_first(tmp_path: Path, wrong: range, wanted: float) -> None:
    """Of 200 noses with equal scores, one in each frame, the first half is wrong, or the last.

    If the last are right, they come first: precision is 1 up to a recall of 1/2. If they are wrong, precision rises to
    1/2 there. NumPy's quicksort leaves so many equal scores out of order on some processors.
    """
    truth, missed = pose_at(50, 50), [900.0, 900.0, *pose_at(50, 50)[2:]]
    claims = {frame: [(7, missed if frame in wrong else truth)] for frame in range(200)}
    folders = posetrack(tmp_path, {frame: [(1, truth)] for frame in claims}, claims)
    assert nose(folders, "ap") == [wanted]


@pytest.mark.parametrize(("right", "wanted"), [("b", 50), ("a", 25)])
def test_equal_scores_follow_the_order_of_names(tmp_path: Path, right: str, wanted: float) -> None:
    """Sequences a and b have one nose each, of which one is found, with equal scores.

    Of equal scores the last comes first, which is that of b: right before wrong gives 1/1 up to a recall of 1/2, and
    wrong before right gives 1/2 there.
    """
    truth, wrong = pose_at(50, 50), pose_at(50, 50)
    wrong[:2] = [900, 900]
    for name in ("a", "b"):
        claims = truth if name == right else wrong
        folders = posetrack(tmp_path, {1: [(1, truth)]}, {1: [(7, claims)]}, name=name)
    summary = sf.pose(*sf.read_posetrack(*folders)).summary
    assert summary.loc[summary["sequence"].isna() & (summary["joint"] == "nose"), "ap"].tolist() == [wanted]
