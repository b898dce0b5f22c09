"""Accumulator(keep="scores"): average precision of batches in any order, equal to that of everything at once."""

import json
import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers import coco_scenes
from helpers.kinds import of_kind
from helpers.problems import refused, warned

pytestmark = pytest.mark.filterwarnings("ignore:average_precision", "ignore:Accumulator")

Sides = tuple[sf.Annotations, pd.DataFrame]


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Sides:
    """Boxes of forty images with crowds, ties, floods of more than a hundred, and classes that come late."""
    folder = tmp_path_factory.mktemp("coco")
    truth, results = coco_scenes.boxes(3, 6, 40)
    for name, content in (("truth", truth), ("results", results)):
        (folder / f"{name}.json").write_text(json.dumps(content))
    known, found = sf.read_coco(folder / "truth.json", folder / "results.json", boxes=True)
    ignored = np.random.default_rng(0).random(len(known.objects)) < 0.1
    return known._replace(objects=known.objects.assign(ignore=ignored)), found.objects


def batches(sides: Sides, seed: int) -> list[Sides]:
    """Batches of one to sixteen images, in any order."""
    random, (known, found) = np.random.default_rng(seed), sides
    assert known.frames is not None
    order, parts = random.permutation(known.frames["sequence"].to_numpy()), []
    while len(order):
        n = random.integers(1, 17)
        chosen, order = order[:n], order[n:]
        objects, frames, claims = (
            table[table["sequence"].isin(chosen)] for table in (known.objects, known.frames, found)
        )
        parts.append((known._replace(objects=objects, frames=frames), claims))
    return parts


def added(parts: list[Sides], **words: Any) -> sf.Accumulator:
    scores = sf.Accumulator(**words, keep="scores")
    for part in parts:
        scores.update(*part)
    return scores


def assert_equal(result: sf.AveragePrecision, whole: sf.AveragePrecision) -> None:
    """To the last bit, in all tables."""
    for name in ("summary", "categories", "curve"):
        pd.testing.assert_frame_equal(getattr(result, name), getattr(whole, name), check_exact=True)
    assert result.summary.attrs == whole.summary.attrs
    assert result.provenance == whole.provenance


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("protocol", ["coco", "voc2010", "ultralytics"])
def test_batches_give_the_numbers_of_everything(images: Sides, seed: int, protocol: str) -> None:
    scores = added(batches(images, seed))
    assert_equal(scores.precision(protocol), sf.average_precision(*images, protocol=protocol))
    pd.testing.assert_frame_equal(scores.compute(), added(batches(images, seed + 9)).compute())


@pytest.mark.parametrize("seed", range(3))
def test_merged_in_any_order_and_pickled(images: Sides, seed: int) -> None:
    parts = batches(images, seed)
    several = [pickle.loads(pickle.dumps(added(parts[start::3]))) for start in range(3)]
    first, *others = [several[place] for place in np.random.default_rng(seed).permutation(3)]
    for other in others:
        first.merge(other)
    whole = sf.average_precision(*images)
    assert_equal(first.precision(), whole)
    assert first.precision().matches["outcome"].value_counts().equals(whole.matches["outcome"].value_counts())


def test_points_within_the_accumulators_tau() -> None:
    random = np.random.default_rng(1)
    truth = pd.DataFrame({"sequence": np.repeat(range(12), 4), "frame": 1, "object": range(48)})
    truth = truth.assign(x=random.uniform(0, 99, 48), y=random.uniform(0, 99, 48))
    found = truth.assign(x=truth["x"] + random.normal(0, 3, 48), score=random.random(48))[::2]
    frames = pd.DataFrame({"sequence": range(14), "frame": 1})
    sides = sf.Annotations(truth, frames), found
    scores = added(batches(sides, 0), tau=4)
    assert_equal(scores.precision(), sf.average_precision(*sides, tau=4))
    assert_equal(scores.precision(tau=[2, 3]), sf.average_precision(*sides, tau=[2, 3]))
    with refused(("Accumulator", "pairs up to 4 were kept", "tau=5")):
        scores.precision(tau=5)


def test_other_fields_and_kinds(images: Sides) -> None:
    scores = added(batches(images, 1), threshold=0.3)
    fields: dict[str, Any] = {"thresholds": [0.3, 0.5], "max_detections": 7, "areas": {"tiny": (0, 400)}}
    with warned(("Accumulator", "beyond the 7")):
        result = scores.precision(**fields)
    assert_equal(result, sf.average_precision(*images, **fields))
    with refused(("Accumulator", "pairs from 0.3 were kept", "0.2 is asked for", "threshold=0.2")):
        scores.precision(thresholds=[0.2])
    polars = of_kind((images[0].objects, images[1]), "polars")
    assert type(sf.Accumulator(keep="scores").update(*polars).precision().summary).__module__.startswith("polars")


def test_poses_without_a_labelled_joint_are_ignored() -> None:
    truth, results = coco_scenes.poses(5, 2, 12)
    known, found = _read(truth, results)
    sides = known, found.objects
    scores = added(batches(sides, 2), similarity="oks")
    assert_equal(scores.precision(), sf.average_precision(*sides))


def _read(truth: dict[str, Any], results: list[dict[str, Any]]) -> tuple[sf.Annotations, sf.Annotations]:
    with tempfile.TemporaryDirectory() as folder:
        paths = Path(folder) / "truth.json", Path(folder) / "results.json"
        for path, content in zip(paths, (truth, results), strict=True):
            path.write_text(json.dumps(content))
        return sf.read_coco(*paths)


def test_what_is_not_kept_cannot_be_asked_for(images: Sides) -> None:
    with refused(("precision", 'keep="scores"')):
        sf.Accumulator().precision()
    with refused(("precision", "no batch yet")):
        sf.Accumulator(keep="scores").precision()
    with refused(("matches", 'keep="matches"')):
        _ = added(batches(images, 0)).matches
    scores = sf.Accumulator(keep="scores")
    with refused(("predictions", "score")):
        scores.update(images[0], images[1].drop(columns="score"))
    assert repr(scores) == "<Accumulator of 0 frames>"  # what is refused changes nothing
    with pytest.raises(ValueError, match="protocol is 'voc'"):
        added(batches(images, 0)).precision("voc")
    with pytest.raises(ValueError, match="keep is 'ap'"):
        sf.Accumulator(keep="ap")  # type: ignore[arg-type]


def test_a_reset_forgets(images: Sides) -> None:
    [first, *_] = batches(images, 0)
    scores = added([first]).reset().update(*first)
    assert_equal(scores.precision(), sf.average_precision(*first))


def test_the_best_f1_and_its_threshold(images: Sides) -> None:
    names = ["best_f1", "oLRP"]
    result = added(batches(images, 2)).precision(metrics=names)
    assert_equal(result, sf.average_precision(*images, metrics=names))
    assert {"best_f1", "best_f1_score", "oLRP"} <= {*result.categories.columns}
    with pytest.raises(ValueError, match="iou is no field of a protocol"):
        added(batches(images, 2)).precision(iou=0.5)


EMPTY = {"sequence": 1, "frame": 0, "boxes": []}
BOX = {"sequence": 1, "frame": 1, "boxes": [[0, 0, 9, 9], [50, 0, 9, 9]]}
FOUND = BOX | {"scores": [0.5, 0.9]}


@pytest.mark.parametrize("reverse", [False, True])
def test_frames_without_rows_say_nothing_of_the_rule(reverse: bool) -> None:
    several = [(EMPTY, EMPTY), (BOX, FOUND)]  # predictions without rows need no scores
    scores = sf.Accumulator(keep="scores")
    for batch in several[::-1] if reverse else several:
        scores.update(*batch)
    assert scores.precision().summary["AP"].tolist() == [1.0]
    first = sf.Accumulator(keep="scores").update(EMPTY, EMPTY)
    assert first.merge(sf.Accumulator(keep="scores").update(BOX, FOUND)).precision().summary["AP"].tolist() == [1.0]


def test_tables_of_categories_are_united_in_any_order() -> None:
    def batch(sequence: int, category: str, frequency: str) -> Sides:
        objects = pd.DataFrame(
            {"sequence": [sequence], "frame": 1, "object": 1, "x": 0.0, "y": 0.0, "w": 9.0, "h": 9.0}
        )
        objects = objects.assign(category=category)
        frames = pd.DataFrame({"sequence": [sequence], "frame": 1})
        frames = frames.assign(negative_categories=[[]], not_exhaustive_categories=[[]])
        categories = pd.DataFrame({"category": [category], "frequency": frequency})
        return sf.Annotations(objects, frames, None, categories), objects.assign(score=0.9)

    several = [batch(1, "cat", "r"), batch(2, "dog", "f")]
    for order in (several, several[::-1]):
        summary = added(order).precision("lvis").summary
        assert summary[["APr", "APf"]].round(9).to_numpy().tolist() == [[1.0, 1.0]]
        assert summary["APc"].isna().all()
    with refused(("Accumulator", "different things of category 'cat'", "the same table of categories")):
        added([several[0], batch(3, "cat", "c")]).precision("lvis")
    many = added([batch(sequence, "cat", "rc"[sequence % 2]) for sequence in range(300)])  # more than wait to be joined
    assert many.compute()["tp"].tolist() == [300]
    with refused(("Accumulator", "different things of category 'cat'", "the same table of categories")):
        many.precision()


def test_a_protocol_that_does_not_fit_what_was_kept_is_refused(images: Sides) -> None:
    boxes = added(batches(images, 0))
    with refused(("Accumulator", "matched by similarity", "Accumulator with tau=")):
        boxes.precision(tau=0.4)
    with refused(("Accumulator", "matched by similarity", "Accumulator with tau=")):
        boxes.precision("nuscenes")
    with refused(
        ("truth", "lvis needs the column negative_categories"),
        ("truth", "not_exhaustive_categories"),
        ("truth", "frequency"),
    ):
        boxes.precision("lvis")
    with refused(
        (
            "thresholds",
            "there is no category 'nope'",
        )
    ):
        boxes.precision(thresholds={"nope": 0.7, None: 0.5})
    joint = pd.DataFrame({"sequence": [1], "frame": 1, "object": 1, "joint": "nose", "x": 0.0, "y": 0.0})
    with refused(("Accumulator", "joint by joint", 'similarity="oks"')):
        added([(sf.Annotations(joint), joint.assign(score=0.5))]).precision()


def test_nuscenes_keeps_its_own_distances() -> None:
    truth = pd.DataFrame({"sequence": [1, 2], "frame": 1, "object": 1, "x": 0.0, "y": 0.0})
    found = truth.assign(x=[0.3, 1.5], score=[0.9, 0.8])
    scores = added([(sf.Annotations(truth), found)], tau=4)
    assert_equal(scores.precision("nuscenes"), sf.average_precision(truth, found, protocol="nuscenes"))
    with refused(("Accumulator", "pairs up to 2 were kept", "tau=4")):
        added([(sf.Annotations(truth), found)], tau=2).precision("nuscenes")
