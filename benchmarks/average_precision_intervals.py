"""Intervals and p-values of average precision held against the truth, by simulation of a known process.

    python benchmarks/average_precision_intervals.py [--replicates 400] [--images 50 250 1000] [--classes 8 80]
    python benchmarks/average_precision_intervals.py --protocol voc2010 --asked AP --only coverage
    python benchmarks/average_precision_intervals.py --tau 6 --asked AP CPM sensitivity_1 --only coverage
    python benchmarks/average_precision_intervals.py --only rival --images 50 --classes 1 8 --replicates 200

Images are drawn from a process, and the true AP, AP50 and AR100 are those of 30,000 of its images. Images differ in
size (a few have most objects), in how hard they are, and in which classes they show. Of 95% intervals, 95% are to hold
the true number; of two detectors that are equally good, p-values of at most 0.05 are to occur in 5%. Seeded: the shares
come out the same each time. docs/uncertainty.md has them. `rival` holds the intervals of hotcoco's `compare` against
the same process (`pip install hotcoco`); docs/why.md has them.
"""

import argparse
import json
import tempfile
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit

import spotgeo_frames as sf

# The numbers that are looked at, and the arguments of average_precision; the command line changes them.
ASKED = ["AP", "AP50", "AR100"]
RULES: dict[str, Any] = {}
N_TRUE = 30_000
SIDE, APART = 40.0, 200.0  # px: boxes are squares, far enough apart to overlap with no other


class Detector(NamedTuple):
    """How much it finds (logit), how far its boxes are off (px), and how many false alarms an image has."""

    finds: float = 1.2
    off: float = 6.0
    alarms: float = 4.0


class Images(NamedTuple):
    """True objects: the image, place and class of each; how hard each image is; and the classes it shows."""

    truth: sf.Annotations
    hardness: np.ndarray
    classes: np.ndarray


def draw_images(random: np.random.Generator, n: int, n_classes: int) -> Images:
    """Draws images; each shows three classes, of which the first ones are more frequent."""
    share = np.arange(1, n_classes + 1.0) ** -0.5
    classes = random.choice(n_classes, (n, 3), p=share / share.sum())
    counts = random.poisson(6 * np.exp(random.normal(-0.3, 0.8, n)))
    sequence = np.repeat(np.arange(n), counts)
    place = np.arange(len(sequence)) - np.repeat(np.cumsum(counts) - counts, counts)
    of_class = classes[sequence, random.integers(0, 3, len(sequence))]
    objects = pd.DataFrame({"sequence": sequence, "frame": 1, "object": place, "x": APART * place, "y": 0.0})
    objects = objects.assign(w=SIDE, h=SIDE, category=of_class)
    frames = pd.DataFrame({"sequence": np.arange(n), "frame": 1})
    return Images(sf.Annotations(objects, frames), random.normal(0, 0.7, n), classes)


def detect(random: np.random.Generator, images: Images, detector: Detector) -> pd.DataFrame:
    """What a detector finds in the images: found objects, one in ten of them twice, and false alarms."""
    truth, n = images.truth.objects, len(images.hardness)
    hardness = images.hardness[truth["sequence"]]
    times = (random.random(len(truth)) < expit(detector.finds - hardness)) * (1 + (random.random(len(truth)) < 0.1))
    found = truth.loc[truth.index.repeat(times), ["sequence", "x", "y", "category"]]
    found["x"] += detector.off * np.abs(random.normal(0, np.exp(0.3 * np.repeat(hardness, times))))
    found["score"] = expit(random.normal(1, 1, len(found)))
    image = np.repeat(np.arange(n), random.poisson(detector.alarms * np.exp(0.5 * images.hardness)))
    alarms = pd.DataFrame({"sequence": image, "x": 0.0, "y": APART + APART * np.arange(len(image))})
    alarms["category"] = images.classes[image, random.integers(0, 3, len(image))]
    alarms["score"] = expit(random.normal(-1, 1, len(alarms)))
    claims = pd.concat([found, alarms], ignore_index=True)
    return claims.assign(frame=1, object=np.arange(len(claims)), w=SIDE, h=SIDE)


def evaluated(random: np.random.Generator, n: int, n_classes: int, *detectors: Detector) -> list[sf.AveragePrecision]:
    """The results of detectors on the same n images."""
    images = draw_images(random, n, n_classes)
    return [sf.average_precision(images.truth, detect(random, images, detector), **RULES) for detector in detectors]


def true_numbers(n_classes: int, detector: Detector) -> np.ndarray:
    """AP, AP50 and AR100 of many images."""
    [result] = evaluated(np.random.default_rng(1), N_TRUE, n_classes, detector)
    return result.summary[ASKED].to_numpy()[0]


def as_good_in_ap(n_classes: int, detector: Detector) -> Detector:
    """A detector that finds less, with boxes that are less far off, and has the same AP."""

    def ahead(off: float) -> float:
        other = Detector(detector.finds - 0.5, off, detector.alarms)
        return float(true_numbers(n_classes, other)[0] - goal)

    goal = true_numbers(n_classes, detector)[0]
    return Detector(detector.finds - 0.5, float(brentq(ahead, 0.5, detector.off, xtol=0.02)), detector.alarms)


def coverage(n_classes: int, sizes: list[int], replicates: int) -> None:
    """How often the intervals hold the true number, of those that are not null, and how many are null."""
    true = true_numbers(n_classes, Detector())
    print(f"\n95% intervals of {n_classes} classes, true {dict(zip(ASKED, true.round(4).tolist(), strict=True))}")
    for n in sizes:
        rows = []
        for replicate in range(replicates):
            [result] = evaluated(np.random.default_rng([2, n, n_classes, replicate]), n, n_classes, Detector())
            rows.append(sf.intervals(result, metrics=ASKED)[["estimate", "low", "high"]].to_numpy())
        estimate, low, high = np.moveaxis(np.array(rows), -1, 0)
        known = ~np.isnan(low)
        held = np.where(known, (low <= true) & (true <= high), False).sum(axis=0) / known.sum(axis=0)
        bias = np.nanmean(estimate - true, axis=0)
        shares = "  ".join(
            f"{name} {of:.1%} (bias {off:+.3f})" for name, of, off in zip(ASKED, held, bias, strict=True)
        )
        print(f"{n:5} images: {shares}; null {1 - known[:, 0].mean():.1%}", flush=True)


def p_values(n_classes: int, sizes: list[int], replicates: int) -> None:
    """How often detectors that are equally good have p-values of at most 0.05 (AP), and intervals that hold 0."""
    others = {"two runs of one detector": Detector(), "one finds less and places better": None}
    for name, other in others.items():
        against = other or as_good_in_ap(n_classes, Detector())
        print(f"\np-values of at most 0.05, {n_classes} classes, {name}")
        for n in sizes:
            p = []
            for replicate in range(replicates):
                random = np.random.default_rng([3, n, n_classes, replicate])
                a, b = evaluated(random, n, n_classes, Detector(), against)
                p.append(sf.compare({"a": a, "b": b}, ["AP"], resamples=1000).pairs["p_value"].iloc[0])
            known = ~np.isnan(p)
            share = (np.array(p)[known] <= 0.05).mean() if known.any() else np.nan
            print(f"{n:5} images: AP {share:.1%}; null {1 - known.mean():.1%}", flush=True)


def rival(n_classes: int, sizes: list[int], replicates: int) -> None:
    """How often 95% intervals of the difference of two runs of one detector (AP) hold 0: hotcoco's, and those here."""
    print(f"\n95% intervals of a difference of 0, {n_classes} classes")
    for n in sizes:
        bounds = []
        for replicate in range(replicates):
            random = np.random.default_rng([4, n, n_classes, replicate])
            images = draw_images(random, n, n_classes)
            claims = [detect(random, images, Detector()) for _ in range(2)]
            a, b = (sf.average_precision(images.truth, each) for each in claims)
            ours = sf.compare({"a": a, "b": b}, ["AP"], resamples=1000).pairs.iloc[0]
            bounds.append([*hotcoco_bounds(images.truth.objects, claims, n, n_classes), ours["low"], ours["high"]])
        of = np.array(bounds, float).reshape(-1, 2, 2)
        known = ~np.isnan(of).any(axis=2)
        held = ((of[..., 0] <= 0) & (of[..., 1] >= 0) & known).sum(axis=0) / known.sum(axis=0)
        width = np.nanmean(of[..., 1] - of[..., 0], axis=0)
        shares = (
            f"{name} {h:.1%} (width {w:.3f})" for name, h, w in zip(("hotcoco", "here"), held, width, strict=True)
        )
        print(f"{n:5} images: {', '.join(shares)}; null here {1 - known[:, 1].mean():.1%}", flush=True)


def hotcoco_bounds(truth: pd.DataFrame, claims: list[pd.DataFrame], n: int, n_classes: int) -> tuple[float, float]:
    """The interval of hotcoco's `compare` of two detectors' AP, from 1,000 samples."""
    import hotcoco

    def rows(table: pd.DataFrame) -> list[dict[str, Any]]:
        values = table.assign(id=np.arange(1, len(table) + 1), iscrowd=0, area=table["w"] * table["h"])
        named = values.rename(columns={"sequence": "image_id", "category": "category_id"})
        named["bbox"] = values[["x", "y", "w", "h"]].to_numpy().tolist()
        return named.drop(columns=["x", "y", "w", "h", "frame", "object"]).to_dict("records")

    known = {"images": [{"id": k, "width": 10**6, "height": 10**6} for k in range(n)], "annotations": rows(truth)}
    known["categories"] = [{"id": k, "name": str(k)} for k in range(n_classes)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "truth.json")
        path.write_text(json.dumps(known))
        of_truth = hotcoco.COCO(str(path))
        evaluations = [hotcoco.COCOeval(of_truth, of_truth.load_res(rows(each)), "bbox") for each in claims]
        for evaluation in evaluations:
            evaluation.evaluate()
            evaluation.accumulate()
        interval = hotcoco.compare(*evaluations, n_bootstrap=1000)["ci"]["AP"]
    return interval["lower"], interval["upper"]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--replicates", type=int, default=400)
    parser.add_argument("--images", type=int, nargs="+", default=[50, 250, 1000])
    parser.add_argument("--classes", type=int, nargs="+", default=[8, 80])
    parser.add_argument(
        "--only", nargs="+", choices=["coverage", "p_values", "rival"], default=["coverage", "p_values"]
    )
    parser.add_argument("--protocol", default="coco")
    parser.add_argument("--tau", type=float)
    parser.add_argument("--asked", nargs="+", default=ASKED)
    given = parser.parse_args()
    ASKED[:] = given.asked
    RULES.update({"protocol": given.protocol} | ({} if given.tau is None else {"tau": given.tau}))
    warnings.simplefilter("ignore")
    for classes in given.classes:
        for part in given.only:
            {"coverage": coverage, "p_values": p_values, "rival": rival}[part](classes, given.images, given.replicates)
