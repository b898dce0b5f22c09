"""Makes the sample in data/coco: python data/make_coco.py, from the project's root.

Sixty images of streets, two in five at night, with persons, bicycles, cars and trucks, and a few crowds of persons,
as COCO's JSON: `annotations.json`, and the results of two detectors. `fast` places boxes loosely, misses small objects,
takes some trucks for cars, reports some objects twice, and is too sure of all that. `precise` does less of each, and
its scores are about the share that is right, but at night it finds less.

How hard an object is to see is the same for both detectors. Seeded: the files come out the same each time.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

FOLDER = Path(__file__).parent / "coco"
N_IMAGES, WIDTH, HEIGHT = 60, 960, 540

# The typical width and height (px) of the classes, and how many of ten objects are of each.
CLASSES = {"person": (28, 80, 4), "bicycle": (60, 50, 1), "car": (110, 60, 4), "truck": (190, 120, 1)}
NAMES = list(CLASSES)


class Detector(NamedTuple):
    """How a detector sees.

    `half` is the size (px, the square root of the area) at which it finds half of all objects by day, and at `night`
    times that size at night. `jitter` is the standard deviation of the edges as a share of the size, `confuses` the
    share of trucks that it takes for cars, `twice` the share of objects that it reports twice, `alarms` how many false
    alarms an image has, and `sharpness` multiplies the logits of scores that would be calibrated.
    """

    half: float
    night: float
    jitter: float
    confuses: float
    twice: float
    alarms: float
    sharpness: float


DETECTORS = {
    "fast": Detector(26, 1.3, 0.075, 0.35, 0.12, 4.0, 2.2),
    "precise": Detector(18, 2.6, 0.035, 0.08, 0.03, 3.0, 1.0),
}


def is_night(image: int) -> bool:
    """Whether an image was taken at night."""
    return image % 5 in (0, 2)


def make_images() -> list[dict[str, Any]]:
    """The images, with what COCO tells of them, and whether they were taken at night."""
    return [
        {"id": n, "file_name": f"street_{n:03}.jpg", "width": WIDTH, "height": HEIGHT, "night": is_night(n)}
        for n in range(1, N_IMAGES + 1)
    ]


def make_annotations(random: np.random.Generator) -> list[dict[str, Any]]:
    """The true objects of all images, and a crowd in every tenth image."""
    share = np.array([of_ten for *_, of_ten in CLASSES.values()]) / 10
    annotations = []
    for image in range(1, N_IMAGES + 1):
        for _ in range(random.integers(4, 11)):
            category = int(random.choice(len(NAMES), p=share))
            width, height, _ = CLASSES[NAMES[category]]
            scale = np.exp(random.normal(0, 0.6))
            w, h = np.minimum(random.uniform(0.85, 1.15, 2) * scale * (width, height), (500, 400))
            annotations.append(annotation(image, category, place(random, w, h), 0))
        if image % 10 == 0:
            annotations.append(annotation(image, 0, place(random, 220.0, 90.0), 1))
    return [{"id": number, **one} for number, one in enumerate(annotations, 1)]


def place(random: np.random.Generator, w: float, h: float) -> np.ndarray:
    """A box of this size somewhere in the image: left, top, width, height."""
    return np.array([random.uniform(0, WIDTH - w), random.uniform(0, HEIGHT - h), w, h])


def annotation(image: int, category: int, box: np.ndarray, crowd: int) -> dict[str, Any]:
    """A true object; its mask takes three quarters of its box."""
    area = round(float(0.75 * box[2] * box[3]), 1)
    return {"image_id": image, "category_id": category + 1, "bbox": rounded(box), "area": area, "iscrowd": crowd}


def rounded(box: np.ndarray) -> list[float]:
    """A box in tenths of a pixel."""
    return [round(float(value), 1) for value in box]


def results(
    annotations: list[dict[str, Any]], lucks: np.ndarray, detector: Detector, random: np.random.Generator
) -> list[dict[str, Any]]:
    """What a detector reports; `lucks` (N, 3) decide what it finds, confuses and reports twice, 0 to 1."""
    found = []
    for one, (seen, confused, again) in zip(annotations, lucks, strict=True):
        box = np.array(one["bbox"])
        if one["iscrowd"]:  # some heads in the crowd
            heads = [np.array([box[0] + 50 * k, box[1] + 5, 30.0, 80.0]) for k in range(4)]
            found += [result(one["image_id"], 0, head, score(random, 0.0, detector)) for head in heads]
            continue
        half = detector.half * (detector.night if is_night(one["image_id"]) else 1)
        if seen > 0.97 / (1 + np.exp(-(np.sqrt(one["area"]) - half) / 6)):
            continue
        category = one["category_id"] - 1
        if NAMES[category] == "truck" and confused < detector.confuses:
            category = NAMES.index("car")
        found.append(
            result(one["image_id"], category, moved(box, detector.jitter, random), score(random, 1.0, detector))
        )
        if again < detector.twice:
            twin = moved(box, 2 * detector.jitter, random)
            found.append(result(one["image_id"], category, twin, score(random, -1.0, detector)))
    for image in range(1, N_IMAGES + 1):
        for _ in range(random.poisson(detector.alarms)):
            category = int(random.choice(len(NAMES), p=[0.5, 0.1, 0.35, 0.05]))
            width, height, _ = CLASSES[NAMES[category]]
            box = place(random, *(random.uniform(0.5, 1.2) * np.array([width, height])))
            found.append(result(image, category, box, score(random, -1.0, detector)))
    return sorted(found, key=lambda one: (one["image_id"], -one["score"]))


def moved(box: np.ndarray, jitter: float, random: np.random.Generator) -> np.ndarray:
    """A box whose edges are a little off."""
    return box + random.normal(0, jitter, 4) * box[[2, 3, 2, 3]]


def score(random: np.random.Generator, sign: float, detector: Detector) -> float:
    """The score of a detection that is right (1), wrong (-1) or neither (0).

    Logits that are normal with the means ±1.3 and the variance 2.6 are calibrated where right and wrong are as many.
    """
    logit = random.normal(1.3 * sign + 0.4, np.sqrt(2.6))
    return 1 / (1 + np.exp(-detector.sharpness * logit))


def result(image: int, category: int, box: np.ndarray, confidence: float) -> dict[str, Any]:
    """A detection."""
    found = {"image_id": image, "category_id": category + 1, "bbox": rounded(box)}
    return found | {"score": round(float(np.clip(confidence, 0.0001, 0.9999)), 4)}


def main() -> None:
    random = np.random.default_rng(22)
    images, annotations = make_images(), make_annotations(random)
    categories = [{"id": number, "name": name} for number, name in enumerate(NAMES, 1)]
    lucks = random.random((len(annotations), 3))
    documents: dict[str, Any] = {
        "annotations": {"images": images, "annotations": annotations, "categories": categories}
    }
    for name, detector in DETECTORS.items():
        documents[name] = results(annotations, lucks, detector, random)
    FOLDER.mkdir(exist_ok=True)
    for name, document in documents.items():
        (FOLDER / f"{name}.json").write_text(json.dumps(document, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
