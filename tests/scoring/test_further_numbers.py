"""Numbers of the whole curve of scores: equal to a loop over all score thresholds."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.plain_protocols import iou, surest_first

NAMES = ["oLRP", "best_f1", "precision_at_recall_0.4", "recall_at_precision_0.5"]


def sides(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    random = np.random.default_rng(seed)
    n = 40
    truth = pd.DataFrame(
        {"sequence": np.arange(n) // 4, "frame": 1, "object": np.arange(n), "x": np.arange(n) % 4 * 50.0}
    )
    truth = truth.assign(y=0.0, w=20.0, h=20.0, category=random.choice(["cat", "dog"], n))
    found = truth.assign(x=truth["x"] + random.integers(-9, 10, n), score=random.permutation(n) / n)
    found = found[random.random(n) < 0.7]
    alarms = truth[random.random(n) < 0.4]
    alarms = alarms.assign(y=90.0, object=alarms["object"] + n, score=random.random(len(alarms)))
    return truth, pd.concat([found, alarms], ignore_index=True)


def tied(found: pd.DataFrame) -> pd.DataFrame:
    """The same with a few scores only, so that right and wrong detections have equal ones."""
    return found.assign(score=np.ceil(found["score"] * 6) / 6)


def by_loop(truth: pd.DataFrame, found: pd.DataFrame) -> dict[str, float]:
    """The best of every score threshold, of one category, where boxes of an image are far apart."""
    known, claims = truth.to_dict("records"), surest_first(found.to_dict("records"))
    taken, rows = set(), [(1.0, 0.0, 0.0, 0.0, np.nan)]
    tp, fp, error = 0, 0, 0.0
    for claim, following in zip(claims, [*claims[1:], None], strict=True):
        near = [
            t for t in known if t["sequence"] == claim["sequence"] and t["object"] not in taken and iou(t, claim) >= 0.5
        ]
        if near:
            tp, error = tp + 1, error + (1 - iou(near[0], claim)) / 0.5
            taken.add(near[0]["object"])
        else:
            fp += 1
        if following is not None and following["score"] == claim["score"]:
            continue  # no threshold stands between them
        n = len(known)
        rows.append(((error + fp + n - tp) / (n + fp), 2 * tp / (tp + fp + n), tp / (tp + fp), tp / n, claim["score"]))
    lrp, f1, precision, recall, score = map(np.array, zip(*rows, strict=True))
    return {
        "oLRP": lrp.min(),
        "best_f1": f1.max(),
        "best_f1_score": score[f1.argmax()],
        "precision_at_recall_0.4": max(precision[recall >= 0.4], default=0.0),
        "recall_at_precision_0.5": max(recall[1:][precision[1:] >= 0.5], default=0.0),
    }


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("ties", [False, True])
def test_the_best_of_all_thresholds(seed: int, ties: bool) -> None:
    truth, found = sides(seed)
    found = tied(found) if ties else found
    result = sf.average_precision(truth, found, metrics=NAMES)
    rows = result.categories.set_index("category")
    wanted = {name: by_loop(*(side[side["category"] == name] for side in (truth, found))) for name in ("cat", "dog")}
    for name, numbers in wanted.items():
        assert rows.loc[name, [*numbers]].to_dict() == pytest.approx(numbers, abs=1e-12)
    for number in NAMES:
        assert result.summary[number][0] == pytest.approx(np.mean([of[number] for of in wanted.values()]), abs=1e-12)


def test_slices_intervals_comparisons_and_folders_have_them(tmp_path: Path) -> None:
    truth, found = sides(1)
    result = sf.average_precision(truth, found, metrics=NAMES, by="category")
    whole = sf.average_precision(truth, found, metrics=NAMES)
    assert result.summary.set_index("category")["oLRP"].to_dict() == pytest.approx(
        whole.categories.set_index("category")["oLRP"].to_dict()
    )
    rows = sf.intervals(whole, metrics=["oLRP", "best_f1"])
    assert rows["estimate"][:2].tolist() == pytest.approx(whole.summary[["oLRP", "best_f1"]].iloc[0].tolist())
    other = sf.average_precision(truth, found.assign(score=1 - found["score"]), metrics=NAMES)
    pairs = sf.compare({"a": whole, "b": other}, metrics=["oLRP"]).pairs
    difference = whole.summary["oLRP"][0] - other.summary["oLRP"][0]
    assert abs(pairs["estimate"][0]) == pytest.approx(abs(difference))
    assert whole.provenance == sf.average_precision(truth, found).provenance
    sf.save(whole, f"{tmp_path}/kept")
    assert sf.load(f"{tmp_path}/kept").summary.equals(whole.summary)
    pd.testing.assert_frame_equal(sf.summarize(sf.load(f"{tmp_path}/kept")), sf.summarize(whole))


def test_distances_cost_their_share_of_tau() -> None:
    truth = pd.DataFrame({"sequence": [1, 2], "frame": 1, "object": 1, "x": 0.0, "y": 0.0})
    found = truth.assign(x=[1.0, 3.0], score=[0.9, 0.8])
    result = sf.average_precision(truth, found, tau=4, metrics=["oLRP"])
    assert result.summary["oLRP"][0] == pytest.approx((0.25 + 0.75) / 2)


def test_no_threshold_stands_between_equal_scores() -> None:
    truth = pd.DataFrame({"sequence": [1, 2, 3], "frame": 1, "object": 1, "x": 0.0, "y": 0.0, "w": 10.0, "h": 10.0})
    found = pd.concat([truth, truth.assign(object=2, x=100.0)]).assign(score=0.5)
    names = ["oLRP", "best_f1", "best_f1_score", "precision_at_recall_0.3", "precision_at_recall_1"]
    names += ["recall_at_precision_0.9"]
    asked = [name for name in names if name != "best_f1_score"]
    wanted = [0.5, 2 / 3, 0.5, 0.5, 0.5, 0.0]
    for claims in (found, found[::-1]):
        result = sf.average_precision(truth, claims, metrics=asked)
        assert result.summary[names].iloc[0].tolist() == pytest.approx(wanted)
        assert result.summary["best_f1"][0] == pytest.approx(sf.summarize(sf.match(truth, claims))["f1"][0])
        kept = sf.Accumulator(keep="scores")
        kept.update(truth, claims)
        assert kept.precision(metrics=asked).summary[names].iloc[0].tolist() == pytest.approx(wanted)
        assert sf.intervals(result, metrics=names[:2])["estimate"][:2].tolist() == pytest.approx(wanted[:2])


@pytest.mark.parametrize(
    "name", ["oLRP2", "precision_at_recall_2", "precision_at_recall_0", "precision_at_recall_", "f1", 3]
)
def test_other_names_are_refused(name: object) -> None:
    truth, found = sides(0)
    with pytest.raises(ValueError, match=r"metrics: .* is no further number"):
        sf.average_precision(truth, found, metrics=[name])  # type: ignore[list-item]


def test_nothing_is_found() -> None:
    truth, found = sides(0)
    row = sf.average_precision(truth, found.assign(y=500.0), metrics=NAMES).summary.iloc[0]
    assert row[NAMES].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert np.isnan(row["best_f1_score"])


def test_vernier_has_the_same_optimal_lrp(coco: Path) -> None:
    """Where it looks at every score; by itself it looks at 101 score thresholds, and may miss the best."""
    vernier = pytest.importorskip("vernier.instance")
    paths = coco / "annotations.json", coco / "fast.json"
    known, found = sf.read_coco(*paths, boxes=True)
    content = [path.read_bytes() for path in paths]
    report = vernier.optimal_lrp(*content, tau_grid=sorted(found.objects["score"].unique().tolist()))
    row = sf.average_precision(known, found, metrics=["oLRP"])
    assert row.summary["oLRP"][0] == pytest.approx(report.olrp, abs=1e-12)
    assert row.categories["oLRP"].tolist() == pytest.approx([one.olrp for one in report.per_class], abs=1e-12)
    assert vernier.optimal_lrp(*content).olrp >= report.olrp


@pytest.mark.parametrize("seed", range(4))
def test_vernier_has_the_same_optimal_lrp_of_equal_scores(seed: int, tmp_path: Path) -> None:
    vernier = pytest.importorskip("vernier.instance")
    truth, found = sides(seed)
    truth, found = truth.assign(area=400.0), tied(found)
    number = {"cat": 1, "dog": 2}
    rows = [
        [
            {
                "image_id": row.sequence,
                "category_id": number[row.category],
                "bbox": [row.x, row.y, row.w, row.h],
                **also,
            }
            for row, also in zip(side.itertuples(), more, strict=True)
        ]
        for side, more in (
            (truth, [{"id": 1 + n, "area": 400.0, "iscrowd": 0} for n in range(len(truth))]),
            (found, [{"score": score} for score in found["score"]]),
        )
    ]
    images = [{"id": int(n), "width": 640, "height": 480} for n in truth["sequence"].unique()]
    classes = [{"id": n, "name": name} for name, n in number.items()]
    content = {"images": images, "categories": classes, "annotations": rows[0]}, rows[1]
    report = vernier.optimal_lrp(
        *(json.dumps(one, default=int).encode() for one in content), tau_grid=sorted(found["score"].unique().tolist())
    )
    frames = truth[["sequence", "frame"]].drop_duplicates()
    result = sf.average_precision(sf.Annotations(truth, frames), found, metrics=["oLRP"])
    rows = result.categories.sort_values("category")
    assert rows["oLRP"].tolist() == pytest.approx([one.olrp for one in report.per_class], abs=1e-12)
