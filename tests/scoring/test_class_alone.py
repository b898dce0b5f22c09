"""A class among others has the numbers that it has alone, by every protocol and with every field changed."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from spotgeo_frames.scoring.ap.interpolation import AREAS_UNDER, CURVES
from spotgeo_frames.scoring.ap.protocol_entries import PROTOCOLS

N_FRAMES = 6
CLASSES = ["car", "cyclist", "Pedestrian", "van"]
FURTHER = ["oLRP", "best_f1", "precision_at_recall_0.3", "recall_at_precision_0.6"]


def scene(seed: int, n_classes: int, n_truths: int) -> tuple[sf.Annotations, pd.DataFrame]:
    """Boxes of classes of very different size, so that some have more truths than recall points; scores often tie."""
    random = np.random.default_rng(seed)
    names = np.array(CLASSES[:n_classes])
    n = random.integers(1, n_truths + 1)
    share = random.dirichlet(np.full(n_classes, 0.5))
    truth = pd.DataFrame({"sequence": 1, "frame": random.integers(1, N_FRAMES + 1, n), "object": np.arange(n)})
    truth = truth.assign(x=random.integers(0, 60, n) * 4.0, y=random.integers(0, 9, n) * 4.0, w=8.0, h=8.0)
    truth["category"] = random.choice(names, n, p=share)
    found = truth[random.random(n) < random.random()]
    found = found.assign(x=found["x"] + random.integers(-2, 3, len(found)))
    alarms = truth[random.random(n) < random.random()].assign(y=90.0, category=random.choice(names))
    found = pd.concat([found, alarms], ignore_index=True)
    found = found.assign(object=np.arange(len(found)), score=random.integers(1, 30, len(found)) / 30)
    truth = truth.assign(area=64.0, ignore=random.random(n) < 0.1, crowd=random.random(n) < 0.1)
    frames = pd.DataFrame({"sequence": 1, "frame": range(1, N_FRAMES + 1)})
    listed = [names.tolist()] * N_FRAMES
    frames = frames.assign(negative_categories=listed, not_exhaustive_categories=[names[:1].tolist()] * N_FRAMES)
    classes = pd.DataFrame({"category": names, "frequency": random.choice(["r", "c", "f"], n_classes)})
    return sf.Annotations(truth, frames, None, classes), found


@st.composite
def fields(draw: st.DrawFn) -> dict[str, Any]:
    protocol = draw(st.sampled_from([*PROTOCOLS]))
    entry, answer = PROTOCOLS[protocol], dict[str, Any](protocol=protocol)
    by_distance = entry.by_distance or draw(st.booleans())
    answer |= {"tau": draw(st.sampled_from([1.0, [3.0, 2.0]]))} if by_distance else {}
    if not by_distance and draw(st.booleans()):
        answer["thresholds"] = draw(st.sampled_from([[0.3], [0.5, 0.75], {"car": 0.7, None: 0.5}]))
    if draw(st.booleans()):
        answer["interpolation"] = draw(st.sampled_from([*CURVES]))
    if draw(st.booleans()):
        answer["assignment"] = draw(st.sampled_from(["free", "best"]))
    if draw(st.booleans()):
        answer |= {"max_detections": draw(st.integers(1, 9)), "max_detections_of": "category"}
    if draw(st.booleans()) and not by_distance:
        answer["areas"] = {"tiny": (0.0, 64.0), "large": (64.0, 1e5)}
    if answer.get("interpolation", entry.interpolation) not in AREAS_UNDER:
        answer["min_recall"] = draw(st.sampled_from([None, 0.0, 0.1, 0.35]))
        answer["min_precision"] = draw(st.sampled_from([None, 0.0, 0.1]))
    return answer | {"metrics": FURTHER}


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 1 << 20), st.integers(2, 4), st.sampled_from([12, 60, 400]), fields())
def test_a_class_among_others_has_the_numbers_that_it_has_alone(
    seed: int, n_classes: int, n_truths: int, asked: dict[str, Any]
) -> None:
    truth, found = scene(seed, n_classes, n_truths)
    if isinstance(asked.get("thresholds"), dict) and "car" not in {*truth.objects["category"]}:
        asked = asked | {"thresholds": [0.5]}
    together = sf.average_precision(truth, found, **asked)
    numbers = together.categories.columns.drop(["threshold"], errors="ignore")
    for name in truth.objects["category"].unique():
        own = truth._replace(objects=truth.objects[truth.objects["category"] == name])
        mine = asked
        if isinstance(asked.get("thresholds"), dict) and name != "car":
            mine = asked | {"thresholds": [0.5]}
        alone = sf.average_precision(own, found[found["category"] == name], **mine)
        rows = (of.loc[of["category"] == name, numbers].iloc[0] for of in (together.categories, alone.categories))
        one, other = (row.drop("category").astype(float) for row in rows)
        exact = one.index.drop("oLRP")
        pd.testing.assert_series_equal(one[exact], other[exact], check_names=False, check_exact=True)
        assert one["oLRP"] == pytest.approx(other["oLRP"], abs=1e-12, nan_ok=True)
        curves = [of[of["category"] == name].reset_index(drop=True) for of in (together.curve, alone.curve)]
        pd.testing.assert_frame_equal(*curves, check_exact=True)


def test_precision_does_not_come_from_the_next_class() -> None:
    """Class b needs two true positives for its first point, and its first one was sure."""
    boxes = pd.DataFrame({"sequence": 1, "frame": 1, "y": 0.0, "w": 20.0, "h": 20.0}, index=range(43))
    truth = boxes.assign(object=range(43), x=np.arange(43) * 50.0, category=["a"] * 2 + ["b"] * 41)
    found = pd.concat(
        [truth[:1].assign(score=0.8), truth[:1].assign(object=90, y=300.0, score=0.9), truth[2:14].assign(score=0.7)]
    )
    for asked in ({"protocol": "kitti"}, {"interpolation": "40 points", "thresholds": [0.5]}):
        rows = sf.average_precision(truth, found, **asked).categories  # type: ignore[arg-type]
        assert rows["AP"].tolist() == pytest.approx([0.25, 11 / 40])
    rows = sf.average_precision(truth, found, thresholds=[0.5], min_recall=0.1).categories
    assert rows["AP"][0] == pytest.approx(0.5 * 40 / 90)
