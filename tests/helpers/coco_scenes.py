"""Random COCO data sets, each class of which is a scene of its own, and what pycocotools says of them."""

import contextlib
import io
from typing import Any, NamedTuple

import numpy as np
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

Document = dict[str, Any]


class Arrays(NamedTuple):
    """pycocotools' arrays, with -1 where nothing is known.

    `precision` and `scores` are (thresholds, recalls, classes, areas), at the most detections; `recall` is (thresholds,
    classes, areas, limits); `stats` are the numbers that it prints.
    AP of boxes has the limit 100 there, whatever `maxDets`.
    """

    precision: np.ndarray
    scores: np.ndarray
    recall: np.ndarray
    stats: np.ndarray


def official(truth: Document, results: list[Document], kind: str, **params: Any) -> Arrays:
    """What pycocotools makes of them; `kind` is "bbox" or "keypoints", and `params` are set in its Params."""
    with contextlib.redirect_stdout(io.StringIO()):
        known = COCO()
        known.dataset = truth
        known.createIndex()
        evaluation = COCOeval(known, known.loadRes(results), kind)
        for name, value in params.items():
            setattr(evaluation.params, name, value)
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    precision, scores, recall = (evaluation.eval[name] for name in ("precision", "scores", "recall"))
    return Arrays(precision[..., -1], scores[..., -1], recall, evaluation.stats)


def boxes(seed: int, n_classes: int, n_images: int = 3) -> tuple[Document, list[Document]]:
    """Boxes on a grid, where scores and overlaps are often equal, with crowds, duplicates and areas on the borders."""
    random = np.random.default_rng(seed)
    truth, results = _empty(n_classes, n_images, random), list[Document]()
    for image, category in _places(truth):
        grid, span = random.choice([0.1, 1.0, 8.0]), random.choice([20, 100, 400])
        known: list[np.ndarray] = []
        for _ in range(random.integers(0, 7)):
            box = _box(random, grid, span) if not known or random.random() < 0.7 else _moved(random, known, grid)
            known.append(np.abs(box))
            area = random.choice([box[2] * box[3], 0.6 * abs(box[2] * box[3]), 1024.0, 9216.0, 0.0])
            _annotate(truth, random, image, category, known[-1], abs(area))
        for _ in range(random.choice([0, 3, 8, 120], p=[0.2, 0.4, 0.39, 0.01])):
            box = _moved(random, known, grid) if known and random.random() < 0.8 else _box(random, grid, span)
            results.append(_result(random, image, category) | {"bbox": box.tolist()})
    return truth, results


def poses(seed: int, n_classes: int, n_images: int = 3) -> tuple[Document, list[Document]]:
    """People, some without a labelled joint, and detections of some of them, with floods of more than twenty."""
    random = np.random.default_rng(seed)
    truth, results = _empty(n_classes, n_images, random), list[Document]()
    for image, category in _places(truth):
        people = []
        for _ in range(random.integers(0, 5)):
            box = np.abs(_box(random, 1.0, random.choice([20, 150])))
            joints = np.round(box[:2] + random.random((17, 2)) * box[2:], 1)
            seen = random.integers(0, 3, 17) * (random.random() < 0.85)
            area = float(random.choice([0.6 * box[2] * box[3], 1024.0, 9216.0]))
            annotation = _annotate(truth, random, image, category, box, area)
            annotation["keypoints"] = np.column_stack([joints, seen]).ravel().tolist()
            annotation["num_keypoints"] = int(np.count_nonzero(seen))
            people.append(joints)
        for _ in range(random.choice([0, 3, 8, 25], p=[0.2, 0.4, 0.37, 0.03])):
            there = people[random.integers(len(people))] if people else random.uniform(0, 100, (17, 2))
            joints = there + random.normal(0, random.choice([0.0, 0.5, 3.0, 10.0]), (17, 2))
            found = {"keypoints": np.column_stack([joints, np.ones(17)]).ravel().tolist()}
            results.append(_result(random, image, category) | found)
    return truth, results


def _empty(n_classes: int, n_images: int, random: np.random.Generator) -> Document:
    images = [{"id": int(number)} for number in random.permutation(3 * n_images)[:n_images]]
    categories = [{"id": int(number), "name": f"class {number}"} for number in random.permutation(n_classes) + 1]
    return {"images": images, "annotations": [], "categories": categories}


def _places(truth: Document) -> list[tuple[int, int]]:
    return [(image["id"], category["id"]) for image in truth["images"] for category in truth["categories"]]


def _annotate(
    truth: Document, random: np.random.Generator, image: int, category: int, box: np.ndarray, area: float
) -> Document:
    place = {"id": len(truth["annotations"]) + 1, "image_id": image, "category_id": category}
    annotation = place | {"bbox": box.tolist(), "area": float(area), "iscrowd": int(random.random() < 0.15)}
    truth["annotations"].append(annotation)
    return annotation


def _result(random: np.random.Generator, image: int, category: int) -> Document:
    score = float(random.choice([np.round(random.random(), 1), random.random()]))
    return {"image_id": image, "category_id": category, "score": score}


def _box(random: np.random.Generator, grid: float, span: float) -> np.ndarray:
    """Left, top, width and height; one in twenty is flat."""
    least = 0.0 if random.random() < 0.05 else grid
    corner, size = np.round(random.uniform(0, span, (2, 2)) / grid) * grid
    return np.concatenate([corner, np.maximum(size, least)])


def _moved(random: np.random.Generator, known: list[np.ndarray], grid: float) -> np.ndarray:
    """One of the known boxes, moved and resized by up to a fifth or so."""
    box = known[random.integers(len(known))]
    moved = box + random.normal(0, random.choice([0.0, 0.05, 0.2]) * box[2:].max() + 1e-9, 4)
    return np.round(np.where(random.random(4) < 0.6, moved, box) / grid) * grid
