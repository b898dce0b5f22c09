"""The pose evaluators, as loops over frames and joints: what `pose` is held against.

Written from the definitions of the PoseTrack21 evaluation kit and of poseval; CLEAR is py-motmetrics' own accumulator.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import motmetrics
import numpy as np
from scipy.optimize import linear_sum_assignment
from shapely import geometry

EARS = (3, 4)
KEPT = [joint for joint in range(17) if joint not in EARS]
ALPHAS = np.arange(0.05, 0.99, 0.05)
ASSOCIATIONS = ("AssA", "AssRe", "AssPr", "FragA")
AT_FIRST = {"HOTA(0)": "HOTA", "LocA(0)": "LocA", "HOTALocA(0)": "HOTALocA"}
EVENTS = ["MATCH", "SWITCH", "MISS", "FP"]


class Person(NamedTuple):
    identity: int
    joints: np.ndarray
    scores: np.ndarray
    head_size: float

    def there(self) -> np.ndarray:
        return (self.joints > 0).all(axis=1)


class Frame(NamedTuple):
    truth: list[Person]
    predictions: list[Person]
    n_annotated: int

    def distances(self) -> np.ndarray:
        """Truths, predictions and joints; in head sizes."""
        table = np.full((len(self.truth), len(self.predictions), 15), np.inf)
        for row, one in enumerate(self.truth):
            for column, other in enumerate(self.predictions):
                for joint in np.flatnonzero(one.there() & other.there()):
                    distance = np.linalg.norm(np.subtract(one.joints[joint], other.joints[joint]))
                    if one.head_size > 0:  # else the kits divide by it, and fail where the distance is 0, too
                        table[row, column, joint] = distance / one.head_size
        return table


def read_frames(truth_path: Path, prediction_path: Path, identity: str = "track_id") -> list[Frame]:
    """The labelled frames of a sequence, without what lies in ignore regions."""
    truth, predictions = (json.loads(path.read_text()) for path in (truth_path, prediction_path))
    frames = []
    for image in truth["images"]:
        if not image["is_labeled"]:
            continue
        regions = [
            geometry.Polygon(list(zip(x, y, strict=True)))
            for x, y in zip(image["ignore_regions_x"], image["ignore_regions_y"], strict=True)
        ]
        listed = [[a for a in side["annotations"] if a["image_id"] == image["id"]] for side in (truth, predictions)]
        sides = [[person(annotation, regions, identity) for annotation in annotations] for annotations in listed]
        # The kits look for people without joints in frames with a region only; here nobody is without joints.
        frames.append(Frame(*([one for one in side if one.there().any()] for side in sides), len(listed[0])))
    return frames


def person(annotation: dict[str, Any], regions: list[geometry.Polygon], identity: str) -> Person:
    joints = np.array(annotation["keypoints"], float).reshape(17, 3)[KEPT, :2]
    for joint in joints:
        if any(region.contains(geometry.Point(*joint)) for region in regions):
            joint[:] = 0
    scores = np.array(annotation.get("scores") or [-9999.0] * 17)[KEPT]
    x, y, w, h = annotation.get("bbox_head", [0, 0, 0, 0])
    return Person(annotation[identity], joints, scores, 0.6 * np.linalg.norm(np.subtract([x + w, y + h], [x, y])))


def there(people: list[Person]) -> np.ndarray:
    return np.array([one.there() for one in people]).reshape(-1, 15)


def hota(frames: list[Frame]) -> dict[str, np.ndarray]:
    """A sequence by alpha and joint, the total last."""
    shape = len(ALPHAS), 15
    tp, fn, fp, similarity = (np.zeros(shape) for _ in range(4))
    names = [
        sorted({one.identity for frame in frames for one in side(frame)})
        for side in (lambda f: f.truth, lambda f: f.predictions)
    ]
    matches = np.zeros((len(ALPHAS), len(names[0]), len(names[1]), 15))
    counts = [np.zeros((len(some), 15)) for some in names]
    latest: dict[tuple[int, int, int], list[int]] = {}  # by alpha, joint and truth: who found it last, and which run
    runs: dict[tuple[int, int, int, int, int], int] = {}  # how long each run is
    for frame in frames:
        for count, known, people in zip(counts, names, (frame.truth, frame.predictions), strict=True):
            for one in people:
                count[known.index(one.identity)] += one.there()
    n_truth, n_predicted = (count.sum(axis=0) for count in counts)
    if not names[0] or not names[1]:
        fn, fp = fn + n_truth, fp + n_predicted
        frames = []
    for frame in frames:
        if not frame.truth:
            fp += n_predicted
        elif not frame.predictions:
            fn += n_truth
        else:
            similar = np.maximum((-1 / 0.5001) * frame.distances() + 1, 0)
            in_frame = there(frame.truth).sum(axis=0), there(frame.predictions).sum(axis=0)
            for joint in range(15):
                rows, columns = linear_sum_assignment(-similar[:, :, joint])
                values = similar[rows, columns, joint]
                for a, alpha in enumerate(ALPHAS):
                    counted = values >= alpha - np.finfo(float).eps
                    tp[a, joint] += counted.sum()
                    fn[a, joint] += in_frame[0][joint] - counted.sum()
                    fp[a, joint] += in_frame[1][joint] - counted.sum()
                    similarity[a, joint] += values[counted].sum()
                    for row, column in zip(rows[counted], columns[counted], strict=True):
                        truth, claim = frame.truth[row].identity, frame.predictions[column].identity
                        matches[a, names[0].index(truth), names[1].index(claim), joint] += 1
                        last = latest.setdefault((a, joint, truth), [claim, 0])
                        if last[0] != claim:
                            last[:] = claim, last[1] + 1
                        run = a, joint, truth, claim, last[1]
                        runs[run] = runs.get(run, 0) + 1
    truths, claims = counts[0][:, None], counts[1][None]
    wholes = truths + claims - matches, truths, claims
    res = {"TP": tp, "FN": fn, "FP": fp, "LocA": np.maximum(1e-10, similarity) / np.maximum(1e-10, tp)}
    res["FragA"] = np.zeros(shape)
    for (a, joint, truth, claim, _), n in runs.items():
        whole = wholes[0][a, names[0].index(truth), names[1].index(claim), joint]
        res["FragA"][a, joint] += n * n / whole / tp[a, joint]
    for name, whole in zip(ASSOCIATIONS, wholes, strict=False):
        res[name] = (matches * (matches / np.maximum(1, whole))).sum(axis=(1, 2)) / np.maximum(1, tp)
    final(res)
    totals = {
        name: values.sum(axis=1) if name in ("TP", "FN", "FP") else values.mean(axis=1) for name, values in res.items()
    }
    return {name: np.column_stack([values, totals[name]]) for name, values in res.items()}


def combined_hota(sequences: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    res = {name: sum(one[name] for one in sequences) for name in ("TP", "FN", "FP")}
    for name in ASSOCIATIONS:
        res[name] = sum(one[name] * one["TP"] for one in sequences) / np.maximum(1, res["TP"])
    weighted = sum(one["LocA"] * one["TP"] for one in sequences)
    res["LocA"] = np.maximum(1e-10, weighted) / np.maximum(1e-10, res["TP"])
    final(res)
    return res


def hota_across(sequences: list[list[Frame]]) -> dict[str, np.ndarray]:
    """All sequences by alpha and joint, the mean of the joints last; identities are the same people in all of them."""
    shape = len(ALPHAS), 15
    res: dict[str, np.ndarray] = {name: np.zeros(shape) for name in ("TP", "FN", "FP", "LocA", *ASSOCIATIONS)}
    n_truth, n_predicted = (
        dict[int, np.ndarray](),
        dict[int, np.ndarray](),
    )  # by identity and joint
    for side, counts in enumerate((n_truth, n_predicted)):
        for one in (one for frames in sequences for frame in frames for one in frame[side]):
            counts[one.identity] = counts.get(one.identity, np.zeros(15)) + one.there()
    together, latest = dict[tuple[int, ...], int](), dict[tuple[int, ...], list[int]]()
    runs: dict[tuple[int, ...], int] = {}
    for frames in sequences:
        in_all = [sum((there(frame[side]).sum(axis=0) for frame in frames), np.zeros(15)) for side in (0, 1)]
        alone = [not any(frame[side] for frame in frames) for side in (1, 0)]
        for side, name in enumerate(("FN", "FP")):
            res[name] += in_all[side] * alone[side]
        for frame in [] if any(alone) else frames:
            if not frame.truth or not frame.predictions:
                res["FP" if not frame.truth else "FN"] += in_all[not frame.truth]
                continue
            similar = np.maximum((-1 / 0.5001) * frame.distances() + 1, 0)
            for a, joint in np.ndindex(*shape):
                values = similar[:, :, joint]
                pairs = linear_sum_assignment(1000.0 * (values >= ALPHAS[a]) + values, maximize=True)
                found = [(r, c) for r, c in zip(*pairs, strict=True) if values[r, c] >= ALPHAS[a] - np.finfo(float).eps]
                res["TP"][a, joint] += len(found)
                res["LocA"][a, joint] += sum(values[pair] for pair in found)
                res["FN"][a, joint] += there(frame.truth)[:, joint].sum() - len(found)
                res["FP"][a, joint] += there(frame.predictions)[:, joint].sum() - len(found)
                for row, column in found:
                    truth, claim = frame.truth[row].identity, frame.predictions[column].identity
                    pair = a, joint, truth, claim
                    together[pair] = together.get(pair, 0) + 1
                    last = latest.setdefault((a, joint, truth), [claim, 0])
                    if last[0] != claim:
                        last[:] = claim, last[1] + 1
                    runs[*pair, last[1]] = runs.get((*pair, last[1]), 0) + 1
    for (a, joint, truth, claim), count in together.items():
        t, p = n_truth[truth][joint], n_predicted[claim][joint]
        for name, whole in (("AssA", t + p - count), ("AssRe", t), ("AssPr", p)):
            res[name][a, joint] += count * count / whole
    for (a, joint, truth, claim, _), length in runs.items():
        whole = n_truth[truth][joint] + n_predicted[claim][joint] - together[a, joint, truth, claim]
        res["FragA"][a, joint] += length * length / whole
    for name in ASSOCIATIONS:
        res[name] /= np.maximum(1, res["TP"])
    res["LocA"] = np.maximum(1e-10, res["LocA"]) / np.maximum(1e-10, res["TP"])
    final(res)
    totals = {n: v.sum(axis=1) if n in ("TP", "FN", "FP") else v.mean(axis=1) for n, v in res.items()}
    return {name: np.column_stack([values, totals[name]]) for name, values in res.items()}


def final(res: dict[str, np.ndarray]) -> None:
    tp, fn, fp = res["TP"], res["FN"], res["FP"]
    res["DetRe"], res["DetPr"] = tp / np.maximum(1, tp + fn), tp / np.maximum(1, tp + fp)
    res["DetA"] = tp / np.maximum(1, tp + fn + fp)
    res["HOTA"], res["RHOTA"] = np.sqrt(res["DetA"] * res["AssA"]), np.sqrt(res["DetRe"] * res["AssA"])
    aware = np.sqrt(res["AssA"] * res["FragA"])
    res["FA-HOTA"], res["FA-RHOTA"] = np.sqrt(res["DetA"] * aware), np.sqrt(res["DetRe"] * aware)
    res["HOTALocA"] = res["HOTA"] * res["LocA"]


def annotated(frames: list[Frame]) -> list[Frame]:
    return [frame for frame in frames if frame.n_annotated]


def events(frames: list[Frame]) -> dict[str, np.ndarray]:
    """How many events of each type py-motmetrics finds in a sequence, and its sum of distances, by joint."""
    sums = {name: np.zeros(15) for name in [*EVENTS, "distance"]}
    frames = annotated(frames)[:-1]
    accumulators = [motmetrics.MOTAccumulator(auto_id=True) for _ in range(15)]
    for frame in frames:
        distances, both = frame.distances(), bool(frame.truth and frame.predictions)
        for joint, accumulator in enumerate(accumulators):
            if not both:
                accumulator.update([0], [0], np.full((1, 1), np.nan))
                continue
            rows = [np.flatnonzero(there(people)[:, joint]) for people in (frame.truth, frame.predictions)]
            table = distances[np.ix_(*rows, [joint])][:, :, 0]
            truths, claims = (
                [frame.truth[row].identity for row in rows[0]],
                [frame.predictions[row].identity for row in rows[1]],
            )
            accumulator.update(truths, claims, np.where(table <= 0.5, table, np.nan))
    for joint, accumulator in enumerate(accumulators if frames else []):
        found = accumulator.events
        for name, count in found["Type"].value_counts().items():
            if name in EVENTS:
                sums[name][joint] = count
        sums["distance"][joint] = found["D"].sum()
    return sums


def clear(sequences: list[dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """mota, motp, pre and rec of the events of sequences, by joint, the total last."""
    sums = {name: sum(one[name] for one in sequences) for name in [*EVENTS, "distance"]}
    found = sums["MATCH"] + sums["SWITCH"]
    truths, claims = found + sums["MISS"], found + sums["FP"]
    truths = np.where(truths > 0, truths, np.nan)
    mistakes = sums["MISS"] + sums["SWITCH"] + sums["FP"]
    numbers = {
        "mota": 100 * (1 - mistakes / truths),
        "motp": np.where(found > 0, 100 * (1 - sums["distance"] / np.maximum(found, 1)), 0.0),
        "pre": 100 * found / np.where(claims > 0, claims, np.nan),
        "rec": 100 * found / truths,
    }
    return {name: with_mean(values) for name, values in numbers.items()}


def with_mean(values: np.ndarray) -> np.ndarray:
    known = values[~np.isnan(values)]
    return np.append(values, known.mean() if len(known) else np.nan)


def average_precision(sequences: list[list[Frame]]) -> dict[str, np.ndarray]:
    """ap, ap_pre and ap_rec by joint, the total last."""
    scores: list[list[float]] = [[] for _ in range(15)]
    labels: list[list[bool]] = [[] for _ in range(15)]
    n_truth = np.zeros(15)
    for frame in annotated([frame for frames in sequences for frame in frames]):
        n_truth += there(frame.truth).sum(axis=0)
        right = np.zeros((len(frame.predictions), 15), bool)
        if frame.truth and frame.predictions:
            near = frame.distances() <= 0.5
            share = near.sum(axis=2).T / there(frame.truth).sum(axis=1)
            kept = np.zeros_like(share)
            for row, column in enumerate(share.argmax(axis=1)):
                kept[row, column] = share[row, column]
            for column, row in enumerate(kept.argmax(axis=0)):
                if kept[row, column] > 0:
                    right[row] = near[column, row]
        for one, row in zip(frame.predictions, right, strict=True):
            for joint in np.flatnonzero(one.there()):
                scores[joint].append(one.scores[joint])
                labels[joint].append(row[joint])
    columns = [
        curve(np.array(s), np.array(label, bool), n) for s, label, n in zip(scores, labels, n_truth, strict=True)
    ]
    return {
        name: with_mean(100 * np.array(values))
        for name, values in zip(("ap", "ap_pre", "ap_rec"), zip(*columns, strict=True), strict=True)
    }


def curve(scores: np.ndarray, right: np.ndarray, n_truth: float) -> tuple[float, float, float]:
    if not len(scores):
        return 0.0, 0.0, 0.0
    if not n_truth:
        return np.nan, 0.0, np.nan
    # poseval leaves ties to NumPy's quicksort, which orders them as the processor pleases.
    right = right[scores.argsort(kind="stable")[::-1]]
    precision = [0.0, *(np.cumsum(right) / np.arange(1, len(right) + 1)), 0.0]
    recall = [0.0, *(np.cumsum(right) / n_truth), 1.0]
    for place in range(len(precision) - 2, -1, -1):
        precision[place] = max(precision[place], precision[place + 1])
    area = sum((recall[k] - recall[k - 1]) * precision[k] for k in range(1, len(recall)))
    return area, float(np.mean(right)), recall[-2]
