"""Sweeps of tracks: every point is what track() or pose() says of the predictions that are left."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.problems import refused, warned
from spotgeo_frames import plots

VALIDATED = ["HOTA_cross_validated", "HOTA_cross_validated_low", "HOTA_cross_validated_high"]
FEW = ("sweep", "fewer than 20 sequences", "HOTA_cross_validated has no interval")
METRICS = ["HOTA", "MOTA", "IDF1"]
JOINTS = ["head_top", "nose", "right_ankle"]


def walkers(seed: int, kind: str, frames: bool) -> tuple[sf.Annotations, pd.DataFrame]:
    """Objects of some sequences on a small grid, where ties abound, and scored predictions of other identities."""
    random = np.random.default_rng(seed)
    rows = [(s, f, o) for s in "abc" for f in range(6) for o in range(3)]
    sides = []
    for _ in range(2):
        kept = [rows[k] for k in np.flatnonzero(random.random(len(rows)) < random.choice([0.2, 0.6, 0.9]))]
        side = pd.DataFrame(kept, columns=["sequence", "frame", "object"])
        side = side.astype({"sequence": "str", "frame": "int64", "object": "int64"})
        sides.append(side.assign(x=random.integers(0, 12, len(side)) * 1.0, y=random.integers(0, 12, len(side)) * 1.0))
    truth, predictions = sides
    if kind == "boxes":
        truth, predictions = (side.assign(w=6.0, h=8.0) for side in sides)
    if kind == "categories":
        truth, predictions = (side.assign(category=random.choice(["car", "bus"], len(side))) for side in sides)
    if kind == "joints":
        truth, predictions = (
            pd.concat([side.assign(joint=j, x=side["x"] + 2 * k) for k, j in enumerate(JOINTS)]).sample(
                frac=0.8, random_state=seed
            )
            for side in sides
        )
        truth = truth.assign(head_size=6.0)
    predictions = predictions.assign(score=random.integers(0, 4, len(predictions)) / 4)
    listed = pd.DataFrame([(s, f) for s in "abc" for f in range(6)], columns=["sequence", "frame"])
    return sf.Annotations(truth, listed if frames else None), predictions


@pytest.mark.parametrize("kind", ["points", "boxes", "categories", "joints"])
@settings(max_examples=12)
@given(st.integers(0, 10_000), st.booleans())
@example(835, False)  # the highest scores are of a sequence without truth
def test_every_point_is_an_evaluation_of_its_own(kind: str, seed: int, frames: bool) -> None:
    truth, predictions = walkers(seed, kind, frames)
    if not len(truth.objects):
        return
    evaluate: Any = sf.pose if kind == "joints" else sf.track
    curve, _ = sf.sweep(truth, predictions, tracks=True)
    assert curve["score_threshold"].tolist() == sorted(predictions["score"].unique())
    for row in curve.to_dict("records"):
        left = predictions[predictions["score"] >= row["score_threshold"]]
        if not frames and {*left["sequence"]}.isdisjoint(truth.objects["sequence"]):
            continue  # as tables of their own these share no sequence with the truth, which is refused
        result = evaluate(truth, left)
        combined, counts = result.summary.iloc[-1], sf.summarize(result.matches).iloc[0]
        for name in ["HOTA", "mota"] if kind == "joints" else METRICS:
            assert row[name] == pytest.approx(combined[name], rel=0, abs=0, nan_ok=True), name
        for name in ("n_predicted", "tp", "fn", "fp", "precision", "recall", "f1"):
            assert row[name] == pytest.approx(counts[name], rel=0, abs=0, nan_ok=True), name


def scene() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two sequences of four frames with a walker each, who is followed surely; a doubtful track of two frames."""
    truth = pd.DataFrame({"sequence": [1] * 4 + [2] * 4, "frame": [1, 2, 3, 4] * 2, "object": 7})
    truth = truth.assign(x=10.0 * truth["frame"], y=0.0)
    false = truth.query("sequence == 1 and frame < 3").assign(object=9, y=300.0, score=0.5)
    return truth, pd.concat([truth.assign(score=0.9), false], ignore_index=True)


def test_by_hand() -> None:
    """With the doubtful track there are 8 TP and 2 FP: HOTA is sqrt(8/10 * 1), MOTA 1 - 2/8, IDF1 16/18.

    Sequence 1 chooses 0.9 for sequence 2; sequence 2, without false alarms, takes the highest of equal thresholds.
    """
    with warned(FEW):
        curve, best = sf.sweep(*scene(), tracks=True)
    assert curve.columns.tolist() == [
        "score_threshold",
        "n_predicted",
        "tp",
        "fn",
        "fp",
        "precision",
        "recall",
        "f1",
        *METRICS,
    ]
    assert curve.drop(columns="f1").round(4).values.tolist() == [
        [0.5, 10, 8, 0, 2, 0.8, 1, 0.8944, 0.75, 0.8889],
        [0.9, 8, 8, 0, 0, 1, 1, 1, 1, 1],
    ]
    assert best.columns.tolist() == ["score_threshold", "HOTA", *VALIDATED]
    assert best.iloc[0, :3].tolist() == [0.9, 1, 1]
    assert best[VALIDATED[1:]].isna().all(axis=None), "fewer than 20 sequences"
    assert curve.attrs["rule"] == "point"
    assert curve.attrs["tau"] == 10
    assert "HOTA 1" in repr(sf.sweep(*scene(), tracks=True))


def test_thresholds_are_at_most_fifty_scores() -> None:
    truth, _ = scene()
    many = pd.concat([truth.assign(object=k, y=40.0 * k, score=k + np.arange(8) / 10) for k in range(30)])
    curve, _ = sf.sweep(truth, many, tracks=True)
    assert len(curve) == 50
    assert curve["n_predicted"].iloc[[0, -1]].tolist() == [240, 1]
    assert len(sf.sweep(truth, many, score=np.arange(60), tracks=True).curve) == 60


def test_thresholds_above_all_scores() -> None:
    curve, best = sf.sweep(*scene(), score=[0.9, 2], tracks=True)
    assert curve[["tp", "fn", "fp", "HOTA", "MOTA", "IDF1"]].values.tolist() == [[8, 0, 0, 1, 1, 1], [0, 8, 0, 0, 0, 0]]
    assert best["score_threshold"].tolist() == [0.9]


def test_sweeps_of_nothing() -> None:
    truth, predictions = scene()
    curve, best = sf.sweep(truth, predictions.head(0), tracks=True)
    assert len(curve) == 0
    assert best.isna().all(axis=None)
    curve, best = sf.sweep(truth.head(0), predictions, tracks=True)
    assert curve["fp"].tolist() == [10, 8]
    with warned(("sweep", "only one sequence", "HOTA_cross_validated is null")):
        _, best = sf.sweep(truth.query("sequence == 1"), predictions.query("sequence == 1"), tracks=True)
    assert best.loc[0, ["HOTA", *VALIDATED]].isna().tolist() == [False, True, True, True]


def test_from_twenty_sequences_on_the_interval_is_that_of_combined_hota() -> None:
    """All scores are equal, so there is nothing to choose, and the interval is the ordinary one."""
    random = np.random.default_rng(4)
    truth = pd.DataFrame([(s, f, 1) for s in range(20) for f in range(5)], columns=["sequence", "frame", "object"])
    truth = truth.assign(x=10.0 * truth["frame"], y=0.0)
    predictions = truth[random.random(len(truth)) < 0.8].assign(score=0.5)
    _, best = sf.sweep(truth, predictions, tracks=True)
    wanted = sf.intervals(sf.track(truth, predictions), metrics=["HOTA"]).iloc[0]
    assert best[VALIDATED].iloc[0].tolist() == pytest.approx(wanted[["estimate", "low", "high"]].tolist())


def test_what_a_sweep_of_tracks_refuses() -> None:
    truth, predictions = scene()
    for word in ({"threshold": 0.5}, {"epsilon": 1.0}, {"sigmas": {"nose": 0.1}}):
        with refused((*word, "does not apply with tracks=True", "leave it out"), error=ValueError):
            sf.sweep(truth, predictions, tracks=True, **word)
    with refused(("tau is []", "a list of numbers"), error=ValueError):
        sf.sweep(truth, predictions, tau=[], tracks=True)
    with refused(("tau is a distance, and similarity='iou' has none", "threshold"), error=ValueError):
        sf.sweep(truth, predictions, tau=[5, 10], similarity="iou", tracks=True)
    with refused(("similarity", "'oks'", "'iou', 'point' or a function"), error=ValueError):
        sf.sweep(truth, predictions, similarity="oks", tracks=True)
    with refused("predictions: column score"):
        sf.sweep(truth, predictions.drop(columns="score"), tracks=True)
    with refused(("predictions", "4 rows", "the same", "sequence 1, frame 1, object 7")):
        sf.sweep(truth, predictions.assign(object=7), tracks=True)
    with refused(("predictions", "column object")):
        sf.sweep(truth, predictions.drop(columns="object"), tracks=True)
    joints = truth.assign(joint="nose", head_size=6.0), predictions.assign(joint="nose")
    with refused(("similarity, distance and tau do not apply to joints", "leave them out")):
        sf.sweep(*joints, tau=[5, 10], tracks=True)
    with refused(("truth", "head_size")):
        sf.sweep(joints[0].drop(columns="head_size"), joints[1], tracks=True)


@pytest.mark.parametrize("boxes", [False, True])
def test_each_of_several_tau_is_a_sweep_of_its_own(boxes: bool) -> None:
    truth, predictions = walkers(3, "boxes" if boxes else "points", frames=True)
    taus = [2.0, 4.0, 8.0]
    together = sf.sweep(truth, predictions, tau=[8, 2, 4, 2], tracks=True, similarity="point")
    assert together.curve["tau"].unique().tolist() == together.best["tau"].tolist() == taus
    assert "tau" not in together.curve.attrs
    for part in ("curve", "best"):
        alone = [getattr(sf.sweep(truth, predictions, tau=tau, tracks=True), part) for tau in taus]
        expected = pd.concat([table.assign(tau=tau) for table, tau in zip(alone, taus, strict=True)], ignore_index=True)
        found = getattr(together, part)
        assert found.columns[0] == "tau"
        pd.testing.assert_frame_equal(found, expected[[*found.columns]], check_exact=True)
    one = sf.sweep(truth, predictions, tau=[4.0], tracks=True)
    assert one.best["tau"].tolist() == [4.0]
    assert one.curve.attrs["tau"] == 4.0
    _, right = plots.sweep_curves(together.curve)
    assert len(right.get_legend().get_texts()) == len(taus), "a line for each"


def test_the_plot_is_of_hota() -> None:
    panels = plots.sweep_curves(sf.sweep(*scene(), tracks=True).curve)
    assert [panel.get_title() for panel in panels] == ["HOTA by score threshold", "Precision over recall"]
    assert panels[1].get_legend().get_texts()[0].get_text() == "tracks, best HOTA 1.000"
