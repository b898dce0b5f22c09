"""Common mistakes: each planted in sound submissions, and found; sound ones are not suspected."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.detectors import HEIGHT, JOINTS, WIDTH, Detector, boxes, people, points
from helpers.kinds import of_kind, plain
from helpers.problems import refused
from helpers.reference import outside
from helpers.scenes import objects

Change = Callable[[pd.DataFrame], pd.DataFrame]

PLANTED: dict[str, Change] = {
    "x and y are swapped": lambda o: o.assign(x=o["y"], y=o["x"]),
    "y is counted from the bottom edge": lambda o: o.assign(y=479 - o["y"]),
    "x is counted from the right edge": lambda o: o.assign(x=639 - o["x"]),
    "coordinates are half a pixel off": lambda o: o.assign(x=o["x"] + 0.5, y=o["y"] + 0.5),
    "coordinates are a pixel off": lambda o: o.assign(x=o["x"] - 1, y=o["y"] - 1),
    "coordinates are 5.0 px off": lambda o: o.assign(x=o["x"] - 3, y=o["y"] + 4),
    "frames are numbered too low by 1": lambda o: o.assign(frame=o["frame"] - 1),
    "frames are numbered too high by 1": lambda o: o.assign(frame=o["frame"] + 1),
    "sequences are numbered too low by 1": lambda o: o.assign(sequence=o["sequence"] - 1),
    "coordinates are normalised to 0 to 1": lambda o: o.assign(x=o["x"] / 640, y=o["y"] / 480),
    "coordinates are halved": lambda o: o.assign(x=o["x"] / 2, y=o["y"] / 2),
    "coordinates are doubled": lambda o: o.assign(x=o["x"] * 2, y=o["y"] * 2),
    "the same objects are listed twice": lambda o: pd.concat([o, o.assign(object=o["object"] + 1000)]),
    "the number of predictions in a frame is capped": lambda o: o[o.groupby(["sequence", "frame"]).cumcount() < 2],
}


def made_up(share: float, seed: int = 4) -> tuple[sf.Annotations, pd.DataFrame]:
    """Objects that keep their number through the five frames of a sequence, and a detector that finds some of them."""
    random = np.random.default_rng(seed)
    rows = [
        (sequence, frame, float(x + 8 * frame), float(y))
        for sequence in range(1, 81)
        for x, y in zip(*random.uniform([[20], [20]], [[590], [460]], (2, random.integers(1, 7))), strict=True)
        for frame in range(1, 6)
    ]
    truth = objects(sorted(rows, key=lambda row: row[:2]))
    frames = pd.DataFrame([(s, f) for s in range(1, 81) for f in range(1, 6)], columns=["sequence", "frame"])
    found = truth[random.random(len(truth)) < share]
    found = found.assign(**{axis: found[axis] + random.normal(0, 1, len(found)) for axis in "xy"})
    wrong = objects(
        [(*frames.iloc[k], *random.uniform(0, 480, 2)) for k in random.integers(0, len(frames), len(truth) // 5)]
    )
    claims = pd.concat([found, wrong.assign(object=wrong["object"] + 100)], ignore_index=True)
    return sf.Annotations(truth, frames), claims


@pytest.mark.parametrize("share", [0.95, 0.6, 0.35])
def test_sound_submissions_are_not_suspected(share: float) -> None:
    found = sf.check(*made_up(share))
    assert found.columns.tolist() == ["suspicion", "f1", "f1_corrected", "advice"]
    assert len(found) == 0


@pytest.mark.parametrize("share", [0.95, 0.6])
@pytest.mark.parametrize("mistake", PLANTED)
def test_planted_mistakes_are_found(mistake: str, share: float) -> None:
    truth, claims = made_up(share)
    now = sf.summarize(sf.match(truth, claims))["f1"].iloc[0]
    [found] = sf.check(truth, PLANTED[mistake](claims)).to_dict("records")
    assert found["suspicion"] == mistake
    if "capped" in mistake:
        assert np.isnan(found["f1_corrected"])
    else:
        assert found["f1_corrected"] == pytest.approx(now, abs=0.02)
    assert found["f1"] <= found["f1_corrected"] or np.isnan(found["f1_corrected"])


def test_exchanged_files() -> None:
    truth, claims = made_up(0.7)
    assert sf.check(claims, truth.objects)["suspicion"].tolist() == ["truth and predictions are exchanged"]
    scored = claims.head(40).assign(score=0.5)
    assert "truth and predictions are exchanged" in sf.check(scored, truth.objects)["suspicion"].tolist()
    assert len(sf.check(truth, claims.assign(score=0.5))) == 0


def test_two_mistakes_at_once() -> None:
    """The one that costs most comes first."""
    truth, claims = made_up(0.95)
    both = PLANTED["the same objects are listed twice"](claims).assign(x=lambda o: o["x"] + 0.5)
    found = sf.check(truth, both)["suspicion"].tolist()
    assert found == ["the same objects are listed twice", "coordinates are half a pixel off"]


def test_nothing_to_check() -> None:
    truth, claims = made_up(0.9)
    assert sf.check(truth, claims.head(0))["suspicion"].tolist() == ["there are no predictions"]
    assert len(sf.check(truth.objects.head(0), claims)) == 0
    elsewhere = claims.assign(sequence=claims["sequence"] + 5000)
    assert sf.check(truth, elsewhere)["suspicion"].tolist() == ["no sequence is the truth's"]
    with refused(("check: column sequence", "str", "predictions", "int64", "truth")):
        sf.check(truth, claims.assign(sequence=claims["sequence"].astype("str")))
    with refused("column joint"):
        sf.check(truth.objects.assign(joint="nose"), claims)
    with refused(("truth", "boxes (w and h)", "predictions")):
        sf.check(truth.objects.assign(w=5.0, h=5.0), claims)
    with refused(("predictions", "column category", "int64", "truth")):
        sf.check(truth.objects.assign(category="star"), claims.assign(category=1))
    with refused(("tau", "0", "epsilon 0"), error=ValueError):
        sf.check(truth, claims, tau=0)


@pytest.mark.parametrize("name", ["alpha", "beta", "gamma"])
def test_the_challenges_submissions(challenge: Path, name: str) -> None:
    truth = sf.read_spotgeo(challenge / "train_anno.json")
    found = sf.read_spotgeo(challenge / "submissions" / f"{name}.json")
    assert len(sf.check(truth, found)) == 0
    for mistake, change in PLANTED.items():
        told = sf.check(truth, change(found.objects))["suspicion"].tolist()
        assert told == [mistake] or ("5.0" in mistake and "px off" in told[0]), (mistake, told)
    assert sf.check(found, truth)["suspicion"].tolist() == ["truth and predictions are exchanged"]


def test_coordinates_that_cannot_be_doubled_are_only_those_of_one_trial() -> None:
    truth = pd.DataFrame({"sequence": 1, "frame": range(30), "object": 0, "x": 10.0, "y": 20.0})
    predictions = truth.assign(x=[1e149, *[10.0] * 29])
    assert sf.check(truth, predictions).empty


# --- every kind ---


def with_columns(**columns: Callable[[pd.DataFrame], object]) -> Change:
    return lambda o: o.assign(**{name: of(o) for name, of in columns.items()})


def scaled(width: float, height: float) -> Change:
    factors = {"x": width, "w": width, "y": height, "h": height}
    return lambda o: o.assign(**{name: o[name] * factor for name, factor in factors.items() if name in o})


def renamed(names: list[str]) -> Change:
    """Joints that go by other names, those of `JOINTS` in this order."""
    return with_columns(joint=lambda o: o["joint"].map(dict(zip(JOINTS, names, strict=True))))


def nowhere(share: float) -> Change:
    """This share of joints is written as 0, 0."""
    return lambda o: o.assign(**{axis: o[axis].where(np.arange(len(o)) % 100 >= 100 * share, 0) for axis in "xy"})


def listed_twice(o: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([o, o.assign(object=o["object"] + 5000)], ignore_index=True)


SIDES = {"left": "right", "right": "left"}
CENTRES = with_columns(x=lambda o: o["x"] + o["w"] / 2, y=lambda o: o["y"] + o["h"] / 2)
CORNERS = with_columns(w=lambda o: o["x"] + o["w"], h=lambda o: o["y"] + o["h"])
SWAP = with_columns(x=lambda o: o["y"], y=lambda o: o["x"])
TURN = with_columns(w=lambda o: o["h"], h=lambda o: o["w"])
NORMALISED = scaled(1 / WIDTH, 1 / HEIGHT)

# Mistakes in the predictions of every kind.
OF_ALL: dict[str, Change] = {
    "x and y are swapped": SWAP,
    "x is counted from the right edge": with_columns(x=lambda o: WIDTH - o["x"] - o.get("w", 0)),
    "y is counted from the bottom edge": with_columns(y=lambda o: HEIGHT - o["y"] - o.get("h", 0)),
    "frames are numbered too low by 1": with_columns(frame=lambda o: o["frame"] - 1),
    "sequences are numbered too high by 1": with_columns(sequence=lambda o: o["sequence"] + 1),
    "coordinates are normalised to 0 to 1": NORMALISED,
    "coordinates are halved": scaled(0.5, 0.5),
    "coordinates are doubled": scaled(2, 2),
    "the same objects are listed twice": listed_twice,
}
OF_BOXES: dict[str, Change] = {
    "x and y are the centre of the box": CENTRES,
    "w and h are the far corner of the box": CORNERS,
    "coordinates are normalised to 0 to 1, and x and y are the centre of the box": lambda o: NORMALISED(CENTRES(o)),
    "coordinates are normalised to 0 to 1, and w and h are the far corner of the box": lambda o: NORMALISED(CORNERS(o)),
    "width and height are swapped": TURN,
    "x and y, width and height are swapped": lambda o: TURN(SWAP(o)),
    "boxes are a pixel too large": with_columns(w=lambda o: o["w"] + 1, h=lambda o: o["h"] + 1),
    "boxes are a pixel too small": with_columns(w=lambda o: o["w"] - 1, h=lambda o: o["h"] - 1),
    "categories are numbered too low by 1": with_columns(category=lambda o: o["category"] - 1),
    "categories are numbered too high by 1": with_columns(category=lambda o: o["category"] + 1),
}
OF_PEOPLE: dict[str, Change] = {
    "left and right joints are swapped": with_columns(
        joint=lambda o: o["joint"].str.replace("left|right", lambda side: SIDES[side.group()], regex=True)
    ),
    "the order of joints is shifted by 1": renamed([*JOINTS[1:], JOINTS[0]]),
    "the order of joints is shifted by 1 ": renamed([JOINTS[-1], *JOINTS[:-1]]),
}
OF_JOINTS: dict[str, Change] = {"visibility is misread in the predictions: joints at 0, 0 count": nowhere(0.3)}

# Kind: what makes it, the rule, the mistakes.
EVERY_KIND = {
    "points": (points, {}, OF_ALL),
    "boxes": (boxes, {}, OF_ALL | OF_BOXES),
    "boxes by their centres": (boxes, {"tau": 8.0}, OF_ALL),
    "poses": (people, {"similarity": "oks"}, OF_ALL | OF_PEOPLE),
    "joints": (people, {"tau": 8.0, "epsilon": 1.0}, OF_ALL | OF_PEOPLE | OF_JOINTS),
}
MISTAKES = [(kind, mistake) for kind, (_, _, mistakes) in EVERY_KIND.items() for mistake in mistakes]

# Mistakes in the truth of people.
OF_TRUTH: dict[str, Change] = {
    "joints at 0, 0 count": lambda o: o.drop(columns="visibility"),
    "joints at 0, 0 count ": with_columns(visibility=lambda o: o["visibility"] + 1),
    "joints with a place do not count": with_columns(visibility=lambda o: o["visibility"] - 1),
}


@pytest.mark.parametrize(("kind", "mistake"), MISTAKES)
def test_a_planted_mistake_of_every_kind(kind: str, mistake: str) -> None:
    make, rule, mistakes = EVERY_KIND[kind]
    seed = MISTAKES.index((kind, mistake))
    truth, claims = make(np.random.default_rng(seed), Detector(sequences=8 if make is people else 20))
    found = sf.check(truth, mistakes[mistake](claims), **rule)
    assert found["suspicion"].tolist() == [mistake.strip()]
    corrected, now = found["f1_corrected"].iloc[0], sf.summarize(sf.match(truth, claims, **rule))["f1"].iloc[0]
    assert corrected == pytest.approx(now, abs=0.03) or (found["f1"].iloc[0] < corrected < now and "0, 0" in mistake)


@pytest.mark.parametrize("kind", ["poses", "joints"])
@pytest.mark.parametrize("mistake", OF_TRUTH)
def test_a_truth_whose_visibility_is_misread(kind: str, mistake: str) -> None:
    make, rule, _ = EVERY_KIND[kind]
    truth, claims = make(np.random.default_rng(1), Detector(sequences=10))
    found = sf.check(truth._replace(objects=OF_TRUTH[mistake](truth.objects)), claims, **rule)
    assert found["suspicion"].tolist() == [f"visibility is misread in the truth: {mistake.strip()}"]


@pytest.mark.parametrize("kind", EVERY_KIND)
@pytest.mark.parametrize("seed", range(2))
def test_sound_sets_of_every_kind(kind: str, seed: int) -> None:
    """Small and large, good and bad; a perfect copy, too."""
    make, rule, _ = EVERY_KIND[kind]
    for size in (
        Detector(sequences=1, frames=1, most=2, found=0.5, alarms=1.0),
        Detector(sequences=3, most=3, found=0.1, alarms=2.0),
        Detector(sequences=12, noise=0.06),
    ):
        random = np.random.default_rng([seed, 7])
        truth, claims = make(random, size)
        assert sf.check(truth, claims, **rule).to_dict("records") == []
    copy = truth.objects
    if "visibility" in copy:
        copy = copy[copy["visibility"] > 0]
    assert sf.check(truth, copy, **rule).to_dict("records") == []


def test_names_of_classes() -> None:
    """One class of four has another case, so F1 loses little; a name that the truth does not have stays as it is."""
    truth, claims = boxes(np.random.default_rng(3), Detector(sequences=10))
    names = {1: "car", 2: "bus", 3: "man", 4: "cat"}
    known = truth._replace(objects=truth.objects.assign(category=truth.objects["category"].map(names)))
    claimed = claims.assign(category=claims["category"].map(names | {2: " Bus"}))
    found = sf.check(known, claimed)
    assert found["suspicion"].tolist() == ["categories are named with other case or spaces"]
    assert "' Bus' is 'bus'" in found["advice"].iloc[0]
    now = sf.summarize(sf.match(known, claims.assign(category=claims["category"].map(names))))["f1"].iloc[0]
    assert found["f1_corrected"].iloc[0] == now
    categorical = claimed.assign(category=claimed["category"].astype("category"))
    assert sf.check(known, categorical)["suspicion"].tolist() == found["suspicion"].tolist()
    for other in ({2: "lorry"}, {}):
        assert len(sf.check(known, claims.assign(category=claims["category"].map(names | other)))) == 0


def test_images_of_several_sizes() -> None:
    """The frames tell how large each image is."""
    truth, claims = boxes(np.random.default_rng(5), Detector(sequences=20))
    sizes = truth.frames.assign(width=np.where(truth.frames["sequence"] % 2, 640.0, 1000.0), height=500.0)
    of_claim = claims[["sequence", "frame"]].merge(sizes, on=["sequence", "frame"])
    normalised = claims.assign(
        **{column: claims[column] / of_claim["width"] for column in "xw"},
        **{column: claims[column] / of_claim["height"] for column in "yh"},
    )
    found = sf.check(truth._replace(frames=sizes), normalised)
    assert found["suspicion"].tolist() == ["coordinates are normalised to 0 to 1"]


def test_a_pixel_is_not_a_percent() -> None:
    """Boxes that are 3 % too large have errors of 2 px on average, which grow with the box."""
    truth, _ = boxes(np.random.default_rng(8), Detector(sequences=25))
    o = truth.objects
    larger = o.assign(w=o["w"] * 1.03, h=o["h"] * 1.03, x=o["x"] - 0.015 * o["w"], y=o["y"] - 0.015 * o["h"])
    assert len(sf.check(truth, larger)) == 0


def test_few_boxes_of_one_size() -> None:
    """Nearly all are larger by exactly a pixel, so it is sure."""
    rows = [(s, 1, 40.0 * k, 10.0) for s in range(5) for k in range(5)]
    truth = objects(rows).assign(w=20.0, h=20.0)
    assert sf.check(truth, OF_BOXES["boxes are a pixel too large"](truth))["suspicion"].tolist() == [
        "boxes are a pixel too large"
    ]


def test_poses_are_no_boxes() -> None:
    """The box around a person is a pixel too large if its outermost joints are, which is no mistake in a size."""
    truth, _ = people(np.random.default_rng(4), Detector(sequences=20))
    known = truth.objects[truth.objects["visibility"] > 0]
    key = [known["sequence"], known["frame"], known["object"]]
    outermost = {axis: known[axis] == known.groupby(key)[axis].transform("max") for axis in "xy"}
    claims = known.assign(**{axis: known[axis] + outermost[axis] for axis in "xy"}).drop(columns="visibility")
    assert len(sf.check(known, claims, similarity="oks")) == 0


def test_a_similarity_of_the_callers() -> None:
    def near(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
        return np.maximum(0, 1 - np.hypot(truth["x"] - predictions["x"], truth["y"] - predictions["y"]) / 20)

    truth, claims = points(np.random.default_rng(1), Detector())
    assert len(sf.check(truth, claims, similarity=near)) == 0
    assert sf.check(truth, SWAP(claims), similarity=near)["suspicion"].tolist() == ["x and y are swapped"]
    shifted = with_columns(x=lambda o: o["x"] + 3)(claims)
    [off] = sf.check(truth, shifted, similarity=near)["suspicion"]
    assert off.startswith("coordinates are 3.")


@pytest.mark.parametrize("kind", ["polars", "pyarrow"])
def test_other_kinds_of_tables(kind: str) -> None:
    truth, claims = people(np.random.default_rng(2), Detector(sequences=5))
    wrong = OF_PEOPLE["left and right joints are swapped"](claims)
    expected = sf.check(truth, wrong, similarity="oks")
    assert len(expected) == 1
    assert plain(sf.check(of_kind(truth, kind), of_kind(wrong, kind), similarity="oks")) == plain(expected)


def test_string_keys_and_empty_sides() -> None:
    truth, claims = people(np.random.default_rng(2), Detector(sequences=5))
    named = [
        o.assign(sequence="s" + o["sequence"].astype(str), object="o" + o["object"].astype(str))
        for o in (truth.objects, SWAP(claims))
    ]
    named[1] = named[1].assign(w="wide")  # a column like any other where there is no height, too
    for rule in ({"similarity": "oks"}, {"tau": 8.0}):
        assert sf.check(*named, **rule)["suspicion"].tolist() == ["x and y are swapped"]
        assert sf.check(truth, claims.head(0), **rule)["suspicion"].tolist() == ["there are no predictions"]
        assert len(sf.check(truth.objects.head(0), claims, **rule)) == 0
        assert len(sf.check(truth.objects.head(0), claims.head(0), **rule)) == 0


def test_coco_and_posetrack() -> None:
    """Real layouts with crowds, ties and floods: detectors that are not perfect, and are not mistaken."""
    coco, posetrack = outside("COCO_AP_DATA", "coco_ap"), outside("POSETRACK_DATA", "posetrack")
    of_boxes = sf.read_coco(coco / "boxes_truth.json", coco / "boxes_results.json", boxes=True)
    of_people = sf.read_coco(coco / "keypoints_truth.json", coco / "keypoints_results.json")
    of_joints = sf.read_posetrack(posetrack / "gt", posetrack / "trackers" / "walker" / "sequences")
    assert len(sf.check(*of_boxes)) == len(sf.check(*of_people, similarity="oks")) == len(sf.check(*of_joints)) == 0
