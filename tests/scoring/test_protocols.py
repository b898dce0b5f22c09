"""average_precision() by each protocol: equal to plain loops that follow the official kits."""

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers import plain_protocols
from helpers.plain_protocols import by_category
from helpers.problems import refused, warned
from spotgeo_frames.scoring import protocol_entries
from spotgeo_frames.scoring.ap.detections import sorted_detections
from spotgeo_frames.scoring.ap.interpolation import CURVES
from spotgeo_frames.scoring.ap.protocol_entries import AREAS, COUNTING, MATCHING, PROTOCOLS, Protocol
from spotgeo_frames.scoring.ap.scopes import area_scope, matcher_of

SEEDS = range(6)


def scenes(seed: int, n_frames: int = 12) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Boxes of three classes on a grid of 2 px, so that overlaps and scores are often equal."""
    random = np.random.default_rng(seed)
    sides: list[list[dict[str, Any]]] = [[], []]
    for frame in range(1, n_frames + 1):
        for _ in range(random.integers(0, 9)):
            box = {"x": 2.0 * random.integers(0, 20), "y": 2.0 * random.integers(0, 20)}
            box |= {"w": 2.0 * random.integers(3, 12), "h": 2.0 * random.integers(3, 12)}
            known = {"sequence": 1, "frame": frame, "category": str(random.choice(["car", "cyclist", "van"])), **box}
            sides[0].append(known | {"ignore": bool(random.random() < 0.2), "crowd": bool(random.random() < 0.15)})
            for _ in range(random.integers(0, 4)):
                moved = known | {name: known[name] + 2.0 * random.integers(-2, 3) for name in ("x", "y")}
                sides[1].append(moved | {"score": random.integers(1, 20) / 20})
        for _ in range(random.integers(0, 3)):
            box = {"x": 2.0 * random.integers(0, 20), "y": 0.0, "w": 8.0, "h": 10.0, "category": "car"}
            sides[1].append({"sequence": 1, "frame": frame, **box, "score": random.integers(1, 20) / 20})
    truth, found = (pd.DataFrame(side).assign(object=np.arange(len(side))) for side in sides)
    return truth, found


def without_ties(found: pd.DataFrame, seed: int) -> pd.DataFrame:
    return found.assign(score=np.random.default_rng(seed).permutation(len(found)) / len(found))


def aps(result: sf.AveragePrecision) -> dict[Any, float]:
    rows = result.categories[result.categories["n_truth"] > 0]
    return dict(zip(rows["category"], rows["AP"], strict=True))


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("year", [2007, 2010])
def test_pascal_voc(seed: int, year: int) -> None:
    truth, found = scenes(seed)
    truth = truth.drop(columns="crowd")
    result = sf.average_precision(truth, found, protocol=f"voc{year}")
    wanted = by_category(truth, found, plain_protocols.voc(year))
    assert aps(result) == pytest.approx(wanted, abs=1e-12)
    assert result.summary["AP"].iloc[0] == pytest.approx(np.mean([*wanted.values()]), abs=1e-12)
    assert [*result.matched.numbers] == ["AP"]


@pytest.mark.parametrize("seed", SEEDS)
def test_ultralytics(seed: int) -> None:
    truth, found = scenes(seed)
    truth, found = truth.drop(columns=["crowd", "ignore"]), without_ties(found, seed)
    for name, average in plain_protocols.OF_ULTRALYTICS.items():
        result = sf.average_precision(truth, found, protocol=name)
        wanted = by_category(truth, found, partial(plain_protocols.ultralytics, average))
        assert aps(result) == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_nuscenes(seed: int) -> None:
    truth, found = scenes(seed)
    names = ["sequence", "frame", "object", "x", "y", "category", "score"]
    truth, found = (
        side.assign(x=side["x"] / 4, y=side["y"] / 4)[[name for name in names if name in side]]
        for side in (truth, found)
    )
    result = sf.average_precision(truth, found, protocol="nuscenes")
    assert aps(result) == pytest.approx(by_category(truth, found, plain_protocols.nuscenes), abs=1e-12)
    assert result.provenance.startswith("nuScenes' mAP as nuscenes-devkit")


@pytest.mark.parametrize("seed", SEEDS)
def test_kitti(seed: int) -> None:
    truth, found = scenes(seed)
    truth = truth.drop(columns=["crowd", "ignore"])
    own = {"cyclist": 0.5, None: 0.7}
    result = sf.average_precision(truth, found, protocol="kitti", thresholds=own)
    wanted = by_category(truth, found, plain_protocols.kitti({"cyclist": 0.5}, 0.7))
    assert aps(result) == pytest.approx(wanted, abs=1e-12)
    assert [own.get(name, 0.7) for name in result.categories["category"]] == result.categories["threshold"].tolist()


@pytest.mark.parametrize(("scores", "wanted"), [([0.9, 0.5], (50 * 1.0 + 0.5) / 101), ([0.5, 0.9], 12.75 / 101)])
def test_linear_precision_before_the_first_that_is_right(scores: list[float], wanted: float) -> None:
    """It is that of the first detection if this one is right, and otherwise rises from 0 at a recall of 0.

    The other detection is wrong, so precision ends with 0.5 at a recall of 0.5: 0, 0.01 ... 0.5 add up to 12.75.
    """
    truth = pd.DataFrame({"sequence": 1, "frame": [1, 2], "object": 1, "x": 0.0, "y": 0.0, "w": 8.0, "h": 8.0})
    found = truth.assign(x=[0.0, 90.0], score=scores)
    result = sf.average_precision(truth, found, interpolation="linear", thresholds=[0.5])
    assert result.summary["AP"][0] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.parametrize("interpolation", [*CURVES])
def test_a_category_of_many_truths_has_its_own_ap(interpolation: str) -> None:
    truth, found = scenes(4, n_frames=90)
    result = sf.average_precision(truth, found, interpolation=interpolation)
    assert result.categories["n_truth"].min() > 40  # so that the first true positive does not reach a recall of 1/40
    alone = {
        name: sf.average_precision(
            *(side[side["category"] == name] for side in (truth, found)), interpolation=interpolation
        )
        for name in aps(result)
    }
    assert aps(result) == {name: of.summary["AP"].iloc[0] for name, of in alone.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_open_images(seed: int) -> None:
    truth, found = scenes(seed)
    truth = truth.drop(columns="ignore")
    frames = pd.DataFrame({"sequence": 1, "frame": range(1, 13)}).assign(negative_categories=[["car"]] * 12)
    result = sf.average_precision(sf.Annotations(truth, frames), found, protocol="open_images")
    seen = {*zip(truth["frame"], truth["category"], strict=True), *((frame, "car") for frame in frames["frame"])}
    verified = [key in seen for key in zip(found["frame"], found["category"], strict=True)]
    wanted = by_category(truth, found[verified], plain_protocols.open_images)
    assert aps(result) == pytest.approx(wanted, abs=1e-12)
    assert result.summary.attrs["unverified"] == len(found) - sum(verified)


def test_a_truth_of_a_class_is_one_of_its_parents_too() -> None:
    truth, found = scenes(3)
    truth, found = truth.drop(columns=["ignore", "crowd"]), found.assign(category="vehicle")
    frames = pd.DataFrame({"sequence": 1, "frame": range(1, 13)}).assign(negative_categories=[[]] * 12)
    parents = pd.DataFrame(
        {"category": ["car", "van", "cyclist", "motor"], "parent": ["motor", "motor", None, "vehicle"]}
    )
    result = sf.average_precision(sf.Annotations(truth, frames, None, parents), found, protocol="open_images")
    counts = dict(zip(result.categories["category"], result.categories["n_truth"], strict=True))
    n = truth["category"].value_counts()
    assert counts["vehicle"] == counts["motor"] == n["car"] + n["van"]
    assert counts["cyclist"] == n["cyclist"]
    alone = sf.average_precision(
        truth[truth["category"] != "cyclist"].assign(category="vehicle"),
        found[found["frame"].isin(truth.loc[truth["category"] != "cyclist", "frame"])],
        protocol="voc2010",
    )
    assert aps(result)["vehicle"] == pytest.approx(aps(alone)["vehicle"])
    loop = parents.assign(parent=["motor", "motor", None, "car"])
    with refused(("truth categories", "parent", "'car' is its own ancestor")):
        sf.average_precision(sf.Annotations(truth, frames, None, loop), found, protocol="open_images")


@pytest.mark.parametrize("tau", [1.0, 3.0])
@pytest.mark.parametrize("seed", SEEDS)
def test_false_alarms_a_frame(seed: int, tau: float) -> None:
    """Frames without anything count, too."""
    truth, found = scenes(seed, 8)
    truth, found = truth.drop(columns=["w", "h", "crowd", "ignore"]), found.drop(columns=["w", "h"])
    found = without_ties(found, seed) if seed % 2 else found  # no score threshold stands between equal scores
    frames = pd.DataFrame({"sequence": 1, "frame": range(1, 21)})
    result = sf.average_precision(sf.Annotations(truth, frames), found, tau=tau)
    names = [f"sensitivity_{rate:g}" for rate in (0.125, 0.25, 0.5, 1, 2, 4, 8)]
    for row in result.categories.to_dict("records"):
        mine = [table[table["category"] == row["category"]].to_dict("records") for table in (truth, found)]
        wanted = plain_protocols.sensitivities(*mine, tau, 20)
        assert [row[name] for name in names] == pytest.approx(wanted, abs=1e-12)
        assert row["CPM"] == pytest.approx(np.mean(wanted), abs=1e-12)


def test_fields_change_alone_and_provenance_says_which() -> None:
    truth, found = scenes(1)
    truth = truth.drop(columns=["crowd", "ignore"])
    official = sf.average_precision(truth.assign(area=truth["w"] * truth["h"]), found)
    assert official.provenance == "COCO bbox AP as pycocotools 2.0.11 computes it, bit for bit"
    changed = sf.average_precision(truth, found, max_detections=500, thresholds=[0.3])
    assert changed.provenance == (
        "COCO's rule with thresholds=[0.3]; max_detections=500; areas that are those of the truths' boxes: "
        "comparable with no leaderboard"
    )
    as_voc = sf.average_precision(truth, found, assignment="best", interpolation="area", thresholds=[0.5])
    assert aps(as_voc) == pytest.approx(aps(sf.average_precision(truth, found, protocol="voc2010")), abs=1e-12)
    most = sf.average_precision(truth, found, protocol="voc2010", max_detections=500)
    assert [*most.matched.numbers] == ["AP"]  # VOC has no average recall, however many detections count
    sizes = sf.average_precision(truth, found, areas={"tiny": (0, 200), "small": (200, 1e5)})
    assert {"AP_tiny", "APs", "AR_tiny"} <= {*sizes.summary.columns}
    assert "APm" not in sizes.summary


def test_another_geometry_than_the_official_one_is_no_official_number() -> None:
    truth, found = scenes(1)
    truth = truth.drop(columns=["crowd", "ignore"])
    ground = sf.average_precision(truth, found, protocol="nuscenes").provenance
    assert ground == (
        "nuScenes' rule with centres of boxes as places on the ground (m): comparable with no leaderboard"
    )
    oriented, claimed = (
        side.assign(cx=side["x"], cy=side["y"], angle=10.0).drop(columns=["x", "y"]) for side in (truth, found)
    )
    joints = pd.DataFrame({"joint": ["nose", "left_eye"], "x": [0.0, 9.0], "y": 0.0})
    person = joints.assign(sequence=1, frame=1, object=1)
    for sides in ((oriented, claimed), (person.assign(area=100.0), person.assign(score=0.5))):
        for name in ("ultralytics", "ultralytics_cut"):
            said = sf.average_precision(*sides, protocol=name).provenance
            assert said.startswith("Ultralytics' rule")
            assert said.endswith("comparable with no leaderboard")


def test_a_distance_of_the_callers_is_no_official_number() -> None:
    """Also where the protocol matches within a distance itself; and one within a distance where it does not."""
    truth, found = scenes(1)
    truth, found = truth.drop(columns=["crowd", "ignore"]), found.drop(columns=["w", "h"])
    truth = truth.drop(columns=["w", "h"])

    def taxi(truth: pd.DataFrame, found: pd.DataFrame) -> np.ndarray:
        return np.abs(truth[["x", "y"]].to_numpy() - found[["x", "y"]].to_numpy()).sum(axis=1)

    plain, own = (sf.average_precision(truth, found, protocol="nuscenes", **of) for of in ({}, {"distance": taxi}))
    assert "leaderboard" not in plain.provenance
    assert own.provenance.endswith("comparable with no leaderboard")
    assert "within a distance" in own.provenance


def test_what_a_protocol_needs_is_named_with_where_it_comes_from() -> None:
    truth, found = scenes(0)
    lacking = (
        ("truth", "lvis", "negative_categories", "neg_category_ids", "no table of frames"),
        ("truth", "lvis", "not_exhaustive_categories", "not_exhaustive_category_ids"),
        ("truth", "lvis", "frequency", "no table of categories"),
    )
    with refused(*lacking):
        sf.average_precision(truth, found, protocol="lvis")
    with refused(("truth", "open_images", "negative_categories", "confidence 0")):
        sf.average_precision(truth, found, protocol="open_images")
    with refused(("predictions", "score")):
        sf.average_precision(truth, found.drop(columns="score"), protocol="voc2010")
    frames = pd.DataFrame({"sequence": 1, "frame": range(1, 13)}).assign(negative_categories="car")
    with refused(("truth frames", "negative_categories", "'car' is no list")):
        sf.average_precision(sf.Annotations(truth, frames), found, protocol="open_images")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"protocol": "voc"}, "protocol is 'voc'; one of coco, voc2007"),
        ({"tau": 3, "thresholds": [0.5]}, "thresholds and tau are both given"),
        ({"tau": -1}, "tau is -1"),
        ({"protocol": "nuscenes", "thresholds": [0.5]}, "give tau= in place of thresholds="),
        ({"thresholds": {"car": 0.7}}, "10 thresholds for all categories"),
        ({"areas": {"small": 3}}, "areas: 'small' is 3"),
        ({"areas": [1]}, "areas is"),
        ({"assignment": "greedy"}, "'free', 'best'"),
        ({"interpolation": "11"}, "'11 points'"),
        ({"max_detections_of": "image"}, "'category', 'frame'"),
        ({"min_recall": 1}, "min_recall is 1"),
        ({"protocol": "voc2010", "min_precision": 0.1}, "min_precision needs recall points"),
        ({"tau": 3, "similarity": "iou"}, "tau"),
    ],
)
def test_what_cannot_be_asked_for(arguments: dict[str, Any], text: str) -> None:
    truth, found = scenes(0)
    with pytest.raises(ValueError, match="(?s)" + text.replace("(", r"\(")):
        sf.average_precision(truth, found, **arguments)


@pytest.mark.parametrize("seed", SEEDS)
def test_lvis(seed: int) -> None:
    """Categories that are not verified in a frame are left out; of those not exhaustive, only what is right counts."""
    truth, found = scenes(seed, 40)
    truth = truth.drop(columns=["ignore", "crowd"]).assign(area=truth["w"] * truth["h"])
    random = np.random.default_rng(seed)
    found = pd.concat([found] * 12, ignore_index=True)  # floods of more than 300 in a frame
    found = found.assign(object=np.arange(len(found)), score=random.integers(1, 99, len(found)) / 99)
    found = found.sort_values("frame", kind="stable", ignore_index=True)
    found.loc[random.random(len(found)) < 0.3, "frame"] = 7
    found = found.sort_values("frame", kind="stable", ignore_index=True)
    names = ["car", "cyclist", "van"]
    frames = pd.DataFrame({"sequence": 1, "frame": range(1, 41)})
    lists = {
        name: [[one for one in names if random.random() < share] for _ in range(40)]
        for name, share in (("negative_categories", 0.5), ("not_exhaustive_categories", 0.2))
    }
    categories = pd.DataFrame({"category": names, "frequency": ["r", "c", "f"]})
    known = sf.Annotations(truth, frames.assign(**lists), None, categories)
    with warned(("average_precision", "with the highest scores of a frame")):
        result = sf.average_precision(known, found, protocol="lvis")
    wanted = plain_protocols.lvis(truth, found, lists)
    assert aps(result) == pytest.approx(wanted, abs=1e-12)
    row = result.summary.iloc[0]
    assert [row[f"AP{one}"] for one in "rcf"] == pytest.approx(
        [wanted.get(name, np.nan) for name in names], nan_ok=True
    )
    assert row["AP"] == pytest.approx(np.mean([*wanted.values()]), abs=1e-12)


@pytest.mark.parametrize("protocol", ["coco", "voc2007", "voc2010", "ultralytics", "kitti", "nuscenes"])
def test_a_category_without_truths_is_null_by_any_protocol(protocol: str) -> None:
    truth, found = scenes(2)
    truth = truth[truth["category"] != "van"].drop(columns=["ignore", "crowd"])
    with warned(("average_precision: 1 category has no truths", "van")):
        result = sf.average_precision(truth, found[found["frame"].isin(truth["frame"])], protocol=protocol)
    rows = result.categories.set_index("category")["AP"]
    assert np.isnan(rows["van"])
    assert result.summary["AP"].iloc[0] == pytest.approx(rows.drop("van").mean())


@pytest.mark.filterwarnings("ignore:.*not in the table of categories:UserWarning")
@pytest.mark.parametrize("verified", [["car"], ["car", "cyclist", "van"]])
@pytest.mark.parametrize("parent", [None, "van"])
def test_protocols_are_those_of_average_precision(verified: list[str], parent: str | None) -> None:
    """Also where all detections count by every protocol, so that they are sorted once."""
    truth, found = scenes(4)
    assert {*found["category"]} == {"car", "cyclist", "van"}
    frames = pd.DataFrame({"sequence": 1, "frame": range(1, 13)})
    lists = {"negative_categories": [verified] * 12, "not_exhaustive_categories": [["car"]] * 12}
    categories = pd.DataFrame({"category": ["car", "cyclist"], "frequency": ["r", "f"], "parent": [None, parent]})
    known = sf.Annotations(truth, frames.assign(**lists), None, categories)
    table = sf.protocols(known, found)
    for row in table.to_dict("records"):
        if row["protocol"] == "nuscenes":
            assert "on the ground (m)" in row["provenance"]
            assert np.isnan(row["AP"])
            continue
        result = sf.average_precision(known, found, protocol=row["protocol"])
        for name in ("AP", "AP50", "AP75"):
            wanted = result.summary[name].iloc[0] if name in result.summary else np.nan
            assert row[name] == pytest.approx(wanted, nan_ok=True, abs=0)
        assert row["provenance"] == result.provenance
        assert (row["n_truth"], row["n_predicted"]) == tuple(result.summary[["n_truth", "n_predicted"]].iloc[0])
    bare = sf.protocols(truth, found, names=["lvis", "voc2010"])
    assert "negative_categories" in bare["provenance"][0]
    assert bare["AP"].notna().tolist() == [False, True]
    with pytest.raises(ValueError, match="protocol is 'voc'"):
        sf.protocols(truth, found, names=["voc"])


def test_points_without_tau_have_the_protocols_that_apply() -> None:
    truth, found = scenes(2)
    truth, found = truth.drop(columns=["crowd", "ignore", "w", "h"]), found.drop(columns=["w", "h"])
    table = sf.protocols(truth, found).set_index("protocol")
    assert table.loc["nuscenes", "AP"] == sf.average_precision(truth, found, protocol="nuscenes").summary["AP"][0]
    reasons = table.loc[["coco", "voc2007", "ultralytics", "kitti"], "provenance"].unique().tolist()
    assert reasons == ["points match within a distance; give tau= (px), a number or a list, or similarity= a function"]
    assert table["AP"].notna().sum() == 1


def test_matches_by_distance_are_match_tables_of_their_tau() -> None:
    """Each threshold has the matches, the errors and the note of its own tau."""
    truth, found = scenes(5)
    truth, found = truth.drop(columns=["w", "h", "crowd", "ignore"]), without_ties(found.drop(columns=["w", "h"]), 5)
    result = sf.average_precision(truth, found, tau=[2, 4])
    assert result.matches["threshold"].unique().tolist() == [4.0, 2.0]
    for tau, rows in result.matches.groupby("threshold"):
        summary = sf.summarize(rows)
        assert summary.attrs["tau"] == tau
        assert rows["distance"].max() <= tau
        missed = rows.loc[rows["outcome"] == "FN", "squared_error"]
        assert missed.eq(tau**2).all()
    point = sf.operating_point(result, recall=0.3, threshold=2)
    assert point["recall"].dropna().ge(0.3).all()
    with refused(("kinds of errors", "matches by distance", "match() at one tau")):
        sf.diagnose(result)
    with refused(("confusion", "matches by distance")):
        sf.confusion(result)


def test_any_distance_may_be_given() -> None:
    """Great circles, a function of the caller's with its unit, and boxes by their centres."""
    sky = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "ra": [359.9999, 10.0], "dec": [0.0, 89.0]})
    claims = sky.assign(ra=[0.0001, 10.0], score=[0.9, 0.8])  # 0.72 arcsec across ra = 0
    row = sf.average_precision(sky, claims, tau=[0.5, 1.0]).summary.iloc[0]
    assert row["AP"] == pytest.approx((51 / 101 / 2 + 1.0) / 2)  # right, but second, within 0.5 arcsec
    with refused(("places in the sky are measured by a distance", "tau", "arcsec")):
        sf.average_precision(sky, claims)

    def taxi(truth: pd.DataFrame, found: pd.DataFrame) -> np.ndarray:
        return np.abs(truth[["x", "y"]].to_numpy() - found[["x", "y"]].to_numpy()).sum(axis=1)

    truth = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1], "x": [0.0], "y": [0.0], "w": [4.0], "h": [4.0]})
    found = truth.assign(x=2.0, y=2.0, score=1.0)
    by_hand = [sf.average_precision(truth, found, distance=taxi, tau=tau, unit="km").summary["AP"][0] for tau in (3, 4)]
    assert by_hand == pytest.approx([0.0, 1.0])
    centres = [sf.average_precision(truth, found, tau=tau).summary["AP"][0] for tau in (2.8, 2.9)]
    assert centres == pytest.approx([0.0, 1.0])
    joints = truth.assign(joint="nose")
    with refused(("average_precision", "poses match by OKS", "tau")):
        sf.average_precision(joints, joints.assign(score=1.0), tau=3)


def test_ultralytics_own_function_has_the_same_numbers() -> None:
    """Fed with the same matches; each of its two formulas by the version that has it."""
    metrics = pytest.importorskip("ultralytics.utils.metrics")
    ends = metrics.compute_ap([0.5], [1.0])[0] < 0.6  # without a line to (1, 0)
    truth, found = scenes(1)
    truth, found = truth.drop(columns=["crowd", "ignore"]), without_ties(found, 1)
    result = sf.average_precision(truth, found, protocol="ultralytics_cut" if ends else "ultralytics")
    rows = result.matches[result.matches["predicted_object"].notna()].sort_values("predicted_object", kind="stable")
    right = [rows.loc[rows["threshold"] == one, "outcome"].eq("TP") for one in result.matched.thresholds]
    names = {name: code for code, name in enumerate(sorted(truth["category"].unique()))}
    claims = found.sort_values("object")
    codes = claims["category"].map(names).to_numpy(), truth["category"].map(names).to_numpy()
    ap = metrics.ap_per_class(np.stack(right, axis=1).astype(float), claims["score"].to_numpy(), *codes)[5]
    assert [aps(result)[name] for name in names] == pytest.approx(ap.mean(axis=1).tolist(), abs=0)


def test_what_does_not_fit_the_data_is_refused() -> None:
    """Thresholds of categories that are not there, and places on the ground of what has none."""
    truth, found = scenes(0)
    with refused(("thresholds", "no category 'lorry'", "'car'")):
        sf.average_precision(truth, found, thresholds={"lorry": 0.7, None: 0.5})
    codes = {"car": 1, "cyclist": 2, "van": 3}
    numbered = [side.assign(category=side["category"].map(codes)) for side in (truth, found)]
    with refused(("thresholds", "no category '1'")):
        sf.average_precision(*numbered, thresholds={"1": 0.7, None: 0.5})
    sky = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1], "ra": [1.0], "dec": [1.0]})
    places = [(side, "protocol nuscenes", column) for side in ("truth", "predictions") for column in ("x", "y")]
    with refused(*places):
        sf.average_precision(sky, sky.assign(score=1.0), protocol="nuscenes")
    points = [side.drop(columns=["w", "h"]) for side in (truth, found)]
    with refused(("average_precision", "points match within a distance", "tau= (px)")):
        sf.average_precision(*points)


def test_an_area_has_no_recall_points_to_leave_out() -> None:
    """In whatever order the fields are named; an entry's own points go with the interpolation."""
    points = pd.DataFrame({"sequence": [1, 1, 2], "frame": 1, "object": [1, 2, 1], "x": [0.0, 50.0, 0.0], "y": 0.0})
    found = points.assign(x=[0.2, 90.0, 0.3], score=[0.9, 0.8, 0.7])
    area = sf.average_precision(points, found, protocol="nuscenes", interpolation="area").summary["AP"][0]
    same = sf.average_precision(points, found, protocol="nuscenes", interpolation="area", min_recall=0, min_precision=0)
    assert area == same.summary["AP"][0]
    boxes = scenes(0)
    for fields in ({"min_recall": 0.5, "interpolation": "area"}, {"interpolation": "area", "min_recall": 0.5}):
        with pytest.raises(ValueError, match="min_recall needs recall points; interpolation 'area' has none"):
            sf.average_precision(*boxes, **fields)  # type: ignore[arg-type]


def test_small_distances_keep_their_digits() -> None:
    points = pd.DataFrame({"sequence": [1], "frame": 1, "object": 1, "x": 0.0, "y": 0.0})
    result = sf.average_precision(points, points.assign(score=0.5), tau=[0.004, 5, 10])
    assert result.summary["thresholds"].tolist() == ["10, 5, 0.004"]
    assert "distances of 10, 5, 0.004 px" in result.over


def test_kitti_knows_crowds_as_its_own_regions() -> None:
    truth, found = scenes(0)
    crowd = truth.assign(crowd=[True, *[False] * (len(truth) - 1)])
    assert sf.average_precision(crowd, found, protocol="kitti").provenance.startswith("KITTI's AP over 40")
    assert "with 1 crowd:" in sf.average_precision(crowd, found, protocol="voc2010").provenance


def test_a_tenth_protocol_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is asked about a protocol is answered by its fields, whatever its name is."""
    entries = (
        Protocol("tenth", "the Tenth's {kind} AP, {exactly}", "the Tenth's rule", has_recall=True, max_detections=7),
        Protocol("ignoring", "the other's AP", "the other's rule", knows_crowds=True, knows_ignored=True),
        Protocol("twelve", "AP", "its rule", coco_numbers=True, areas=AREAS, max_detections=50, reads_areas=True),
        Protocol("partly", "AP", "its rule", verified=True, needs_not_exhaustive=True),
        Protocol("ground", "AP on the ground", "its rule", thresholds=(9.0,), by_distance=True, unit="km")._replace(
            geometries=("points",)
        ),
    )
    for entry in entries:
        monkeypatch.setitem(protocol_entries.PROTOCOLS, entry.name, entry)  # type: ignore[arg-type]
    truth, found = scenes(0)
    plain = truth.drop(columns=["crowd", "ignore"])
    provenance = {name: sf.average_precision(plain, found, protocol=name).provenance for name in ("tenth", "twelve")}
    assert provenance["tenth"] == "the Tenth's bbox AP, bit for bit"
    assert "with areas that are those of the truths' boxes" in provenance["twelve"]
    texts = [sf.average_precision(truth, found, protocol=name).provenance for name in ("tenth", "ignoring")]
    assert "that the column ignore marks; " in texts[0]
    assert "crowds" in texts[0]
    assert texts[1] == "the other's AP"
    assert [*sf.average_precision(plain, found, protocol="tenth").matched.numbers] == ["AP", "AP50", "AP75", "AR7"]
    numbers = [*sf.average_precision(plain, found, protocol="twelve").matched.numbers]
    assert numbers == ["AP", "AP50", "AP75", "APs", "APm", "APl", "AR1", "AR10", "AR50", "ARs", "ARm", "ARl"]
    with refused(("truth", "partly", "negative_categories"), ("truth", "partly", "not_exhaustive_categories")):
        sf.average_precision(plain, found, protocol="partly")
    points = [side.drop(columns=["w", "h"]) for side in (plain, found)]
    on_ground = sf.average_precision(*points, protocol="ground")
    assert ([*on_ground.matched.numbers], on_ground.provenance) == (["AP"], "AP on the ground")
    assert sf.average_precision(*points, protocol="tenth", tau=2).summary["CPM"].notna().all()
    table = sf.protocols(plain, found).set_index("protocol")
    assert table.loc["tenth", "provenance"] == provenance["tenth"]
    assert "at most 7 detections" in table.loc["tenth", "differs"]
    assert table.loc["ground", "provenance"] == "its rule matches by distance on the ground (km)"
    of_points = sf.protocols(*points, names=["nuscenes", "ground"], tau=3)
    assert of_points["AP"].tolist()[1:] == on_ground.summary["AP"].tolist()


def test_what_protocols_share_follows_from_the_fields_that_are_listed() -> None:
    """Sorting and matching read no other field, so protocols that agree in these have the same matches."""
    truth, found = scenes(0)
    frames = pd.DataFrame({"sequence": 1, "frame": range(1, 13)}).assign(negative_categories=[["car"]] * 12)
    known = sf.Annotations(truth, frames, None, pd.DataFrame({"category": ["car"], "parent": ["van"]}))
    read: list[str] = []

    class Noting:
        """A protocol that notes which of its fields are read."""

        def __init__(self, protocol: Protocol):
            self.protocol = protocol

        def __getattr__(self, name: str) -> Any:
            read.append(name)
            return getattr(self.protocol, name)

    for protocol in PROTOCOLS.values():
        if protocol.by_distance or protocol.needs_not_exhaustive:
            continue
        matched = sf.average_precision(known, found, protocol=protocol.name).matched
        noting: Any = Noting(protocol)
        read.clear()
        detections = sorted_detections(matched.detections.aligned, matched.rule, noting)
        assert {*read} <= {*COUNTING}
        read.clear()
        matcher_of(detections, noting)(area_scope(detections, "all", noting))
        assert {*read} <= {*MATCHING}
    assert {*COUNTING, *MATCHING} <= {*Protocol._fields}


def test_what_a_protocol_does_otherwise_than_coco_is_told() -> None:
    truth, found = scenes(0)
    table = sf.protocols(truth.drop(columns=["crowd", "ignore"]), found)
    differs = {name: text.split("; ") for name, text in zip(table["protocol"], table["differs"], strict=True)}
    of_coco = differs.pop("coco")
    assert of_coco[2:] == ["similarity 0.50 to 0.95", "at most 100 detections a frame and category"]
    assert not any({*of_coco} & {*of_others} for of_others in differs.values())
    assert differs["kitti"] == [
        "highest precision at 40 recalls or beyond",
        "similarity 0.70, 0.5 of Pedestrian, 0.5 of Person_sitting, 0.5 of Cyclist",
        "all detections count",
    ]
    assert differs["nuscenes"][1:3] == ["distances below 4, 2, 1, 0.5 m", "at most 500 detections a frame"]


def test_batches_do_not_keep_what_classes_of_classes_need() -> None:
    truth, found = scenes(3)
    truth, found = truth.drop(columns=["ignore", "crowd"]), found.assign(category="vehicle")
    frames = pd.DataFrame({"sequence": 1, "frame": range(1, 13)}).assign(negative_categories=[[]] * 12)
    parents = pd.DataFrame({"category": ["car"], "parent": ["vehicle"]})
    batches = sf.Accumulator(similarity="iou", threshold=0.5, keep="scores")
    batches.update(sf.Annotations(truth, frames, None, parents), found)
    with refused(("Accumulator", "protocol open_images", "average_precision()")):
        batches.precision("open_images")


def test_the_provenance_of_voc_names_the_pixel() -> None:
    truth, found = scenes(0)
    for year in (2007, 2010):
        said = sf.average_precision(truth.drop(columns="crowd"), found, protocol=f"voc{year}").provenance
        assert said.endswith("of boxes that count their last pixel")


@pytest.mark.filterwarnings("ignore:.*not in the table of categories:UserWarning")
def test_lvis_needs_the_frequency_of_each_category() -> None:
    truth, found = scenes(0)
    truth = truth.drop(columns=["ignore", "crowd"])
    frames = pd.DataFrame({"sequence": 1, "frame": range(1, 13)})
    frames = frames.assign(negative_categories=[[]] * 12, not_exhaustive_categories=[[]] * 12)
    classes = pd.DataFrame({"category": ["car", "cyclist"], "frequency": ["r", "x"]})
    with refused(("truth categories", "frequency", "'x' is none of r")):
        sf.average_precision(sf.Annotations(truth, frames, None, classes), found, protocol="lvis")
    with refused(("truth categories", "frequency", "1, 2 are none of r")):
        numbered = sf.Annotations(truth, frames, None, classes.assign(frequency=[1, 2]))
        sf.average_precision(numbered, found, protocol="lvis")
    unknown = sf.Annotations(truth, frames, None, classes.assign(frequency=["r", None]))
    assert np.isnan(sf.average_precision(unknown, found, protocol="lvis").summary["APf"][0])
    classes = classes.assign(frequency=["r", "f"])
    with warned(("average_precision", "1 category is not in the table of categories", "van")):
        sf.average_precision(sf.Annotations(truth, frames, None, classes), found, protocol="lvis")
