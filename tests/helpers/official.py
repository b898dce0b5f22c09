"""What trackeval, the official evaluator of tracks, says of tables: the standard that track() is held against.

Fragments, which trackeval does not know, are counted as the PoseTrack21 kit defines them.
"""

import contextlib
import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linear_sum_assignment
from trackeval.metrics import CLEAR, HOTA, Identity

import spotgeo_frames as sf

QUIET = {"PRINT_CONFIG": False}


class FragmentedHOTA(HOTA):  # type: ignore[misc]
    """trackeval's HOTA with the numbers of the PoseTrack21 kit that count fragments."""

    def eval_sequence(self, data: dict[str, Any]) -> dict[str, Any]:
        res = super().eval_sequence(data)
        return final(res | {"FragA": fragments(data) / np.maximum(1, res["HOTA_TP"])})

    def combine_sequences(self, all_res: dict[Any, dict[str, Any]]) -> dict[str, Any]:
        return self._weighted(all_res, super().combine_sequences(all_res))

    def combine_classes_det_averaged(self, all_res: dict[Any, dict[str, Any]]) -> dict[str, Any]:
        return self._weighted(all_res, super().combine_classes_det_averaged(all_res))

    def combine_classes_class_averaged(
        self, all_res: dict[Any, dict[str, Any]], ignore_empty_classes: bool = False
    ) -> dict[str, Any]:
        means = {name: np.mean([res[name] for res in all_res.values()], axis=0) for name in OF_FRAGMENTS}
        return super().combine_classes_class_averaged(all_res, ignore_empty_classes) | means

    def _weighted(self, all_res: dict[Any, dict[str, Any]], res: dict[str, Any]) -> dict[str, Any]:
        return final(res | {"FragA": self._combine_weighted_av(all_res, "FragA", res, weight_field="HOTA_TP")})


def final(res: dict[str, Any]) -> dict[str, Any]:
    """The numbers of a result with those that follow from FragA."""
    aware = np.sqrt(res["AssA"] * res["FragA"])
    res |= {"FA-HOTA": np.sqrt(res["DetA"] * aware), "FA-RHOTA": np.sqrt(res["DetRe"] * aware)}
    return res | {"HOTALocA(0)": res["HOTA(0)"] * res["LocA(0)"]}


def fragments(data: dict[str, Any]) -> np.ndarray:
    """The sum over fragments of their share, their length times, at each alpha, from the pairs that HOTA chooses."""
    shape = data["num_gt_ids"], data["num_tracker_ids"]
    if not all(shape):
        return np.zeros(len(ALPHAS))
    frames = list(zip(data["gt_ids"], data["tracker_ids"], data["similarity_scores"], strict=True))
    n_truth, n_predicted, shared = np.zeros((shape[0], 1)), np.zeros((1, shape[1])), np.zeros(shape)
    for truths, claims, similar in frames:
        whole = similar.sum(0)[None] + similar.sum(1)[:, None] - similar
        known = whole > np.finfo(float).eps
        shared[np.ix_(truths, claims)] += np.divide(similar, whole, out=np.zeros(similar.shape), where=known)
        n_truth[truths, 0] += 1
        n_predicted[0, claims] += 1
    alignment = shared / (n_truth + n_predicted - shared)
    runs: list[list[list[Any]]] = [[] for _ in ALPHAS]
    latest: list[dict[int, list[Any]]] = [{} for _ in ALPHAS]  # the last run of each truth
    together = np.zeros((len(ALPHAS), *shape))
    for truths, claims, similar in frames:
        rows, columns = linear_sum_assignment(-alignment[np.ix_(truths, claims)] * similar)
        for level, alpha in enumerate(ALPHAS):
            for row, column in zip(rows, columns, strict=True):
                if similar[row, column] < alpha - np.finfo(float).eps:
                    continue
                truth, claim = truths[row], claims[column]
                together[level, truth, claim] += 1
                if latest[level].get(truth, [None, None])[1] != claim:
                    latest[level][truth] = [truth, claim, 0]
                    runs[level].append(latest[level][truth])
                latest[level][truth][2] += 1
    whole = n_truth + n_predicted - together
    return np.array([sum(n * n / whole[level, t, p] for t, p, n in runs[level]) for level in range(len(ALPHAS))])


ALPHAS = np.arange(0.05, 0.99, 0.05)
OF_FRAGMENTS = ("FragA", "FA-HOTA", "FA-RHOTA", "HOTALocA(0)")
METRICS = {"HOTA": FragmentedHOTA(), "CLEAR": CLEAR(QUIET), "Identity": Identity(QUIET)}

# The fields of the summary, and which of trackeval's they are.
CURVES = ("HOTA", "DetA", "AssA", "DetRe", "DetPr", "AssRe", "AssPr", "LocA", "OWTA", "FragA", "FA-HOTA", "FA-RHOTA")
CLEAR_SHARES = ["sMOTA", "MOTAL", "CLR_F1", "CLR_Re", "CLR_Pr", "FP_per_frame", "MTR", "PTR", "MLR"]
FIELDS = {
    **{name: ("HOTA", name) for name in CURVES},
    **{name: ("CLEAR", name) for name in ("MOTA", "MOTP", "MODA", "IDSW", "Frag", "MT", "PT", "ML")},
    **{name: ("CLEAR", f"CLR_{name}") for name in ("TP", "FN", "FP")},
    **{name: ("HOTA", name) for name in ("HOTA(0)", "LocA(0)", "HOTALocA(0)")},
    **{name: ("CLEAR", name) for name in CLEAR_SHARES},
    **{name: ("Identity", name) for name in ("IDF1", "IDP", "IDR", "IDTP", "IDFN", "IDFP")},
}


def evaluate(truth: pd.DataFrame, predictions: pd.DataFrame, similarities: Any, frames: pd.DataFrame) -> dict[Any, Any]:
    """The summary's fields by sequence, and under None for all combined; HOTA's family as the 19 values.

    `similarities(truth rows, predicted rows)` gives the matrix of one frame.
    """
    return numbers(_loaded(truth, predictions, similarities, frames))


def evaluate_classes(
    truth: pd.DataFrame,
    predictions: pd.DataFrame,
    similarities: Any,
    frames: pd.DataFrame,
    classes: Sequence[Any] | None = None,
) -> dict[Any, Any]:
    """The same by (sequence, class, None), with None for all sequences; then by (None, None, "class" or "detection").

    Classes are evaluated and combined as `eval.py` does it, with its defaults; by default those that occur.
    """
    loaded = {}
    for name in sorted({*truth["category"], *predictions["category"]}) if classes is None else classes:
        sides = (side[side["category"] == name] for side in (truth, predictions))
        loaded[name] = _loaded(*sides, similarities, frames)
    return numbers_of_classes(loaded)


def numbers_of_classes(loaded: dict[Any, dict[Any, dict[str, Any]]]) -> dict[Any, Any]:
    """The same of the sequences of each class, as trackeval's datasets load them."""
    wanted, of_classes = {}, {}
    for name, sequences in loaded.items():
        found = _found(sequences)
        of_classes[name] = found.pop(None)
        wanted |= {(sequence, name, None): fields(each) for sequence, each in found.items()}
    wanted |= {(None, name, None): fields(each) for name, each in of_classes.items()}
    for average, how in {"class": "class", "detection": "det"}.items():
        wanted[None, None, average] = fields(averaged(of_classes, how))
    return wanted


def numbers_of_parents(loaded: dict[Any, dict[Any, dict[str, Any]]], parents: dict[str, list[str]]) -> dict[str, Any]:
    """The same of classes of classes, over all sequences together."""
    of_classes = {name: _found(sequences)[None] for name, sequences in loaded.items()}
    return {
        parent: fields(averaged({name: of_classes[name] for name in names}, "det")) for parent, names in parents.items()
    }


def averaged(of_classes: dict[Any, dict[str, Any]], how: str) -> dict[str, Any]:
    """What trackeval makes of what it found for several classes, averaged over classes ("class") or detections."""
    return {
        name: getattr(metric, f"combine_classes_{how}_averaged")({of: each[name] for of, each in of_classes.items()})
        for name, metric in METRICS.items()
    }


def numbers(loaded: dict[Any, dict[str, Any]]) -> dict[Any, Any]:
    """The same of sequences as trackeval's datasets load them."""
    return {sequence: fields(each) for sequence, each in _found(loaded).items()}


def _found(loaded: dict[Any, dict[str, Any]]) -> dict[Any, dict[str, Any]]:
    """What each metric of trackeval returns for each sequence, and under None for all combined."""
    with contextlib.redirect_stdout(io.StringIO()):
        found = {
            sequence: {name: metric.eval_sequence(data) for name, metric in METRICS.items()}
            for sequence, data in loaded.items()
        }
        combined = {
            name: metric.combine_sequences({sequence: each[name] for sequence, each in found.items()})
            for name, metric in METRICS.items()
        }
    return {**found, None: combined}


def fields(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The summary's fields of what trackeval found; its own files lack those of fragments, which only the kit has."""
    return {field: found[metric][name] for field, (metric, name) in FIELDS.items() if name in found[metric]}


def same(got: sf.TrackResult, wanted: dict[Any, Any]) -> None:
    """Every number of the summary and of the curve is the official one, by sequence."""
    _same(got, {(sequence,): values for sequence, values in wanted.items()}, ["sequence"])


def same_classes(got: sf.TrackResult, wanted: dict[Any, Any]) -> None:
    """Every number of the summary and of the curve is the official one, by sequence, class and average."""
    _same(got, wanted, ["sequence", "category", "average"])


def _same(got: sf.TrackResult, wanted: dict[Any, Any], key: list[str]) -> None:
    keys = [tuple(None if pd.isna(value) else value for value in row) for row in got.summary[key].to_numpy(object)]
    assert set(keys) == set(wanted)
    assert len(keys) == len(wanted)
    curves = {field: got.curve[field].to_numpy().reshape(len(keys), -1) for field in CURVES}
    for place, (name, row) in enumerate(zip(keys, got.summary.to_dict("records"), strict=True)):
        for field, value in wanted[name].items():
            assert row[field] == pytest.approx(np.mean(value), rel=1e-9, abs=1e-9), (name, field)
        for field in wanted[name].keys() & curves.keys():
            np.testing.assert_allclose(curves[field][place], wanted[name][field], rtol=1e-9, atol=1e-9)


def _loaded(truth: pd.DataFrame, predictions: pd.DataFrame, similarities: Any, frames: pd.DataFrame) -> dict[Any, Any]:
    return {
        sequence: _sequence(*(t[t["sequence"] == sequence] for t in (truth, predictions)), sorted(rows), similarities)
        for sequence, rows in frames.groupby("sequence")["frame"]
    }


def _sequence(truth: pd.DataFrame, predictions: pd.DataFrame, frames: list[int], similarities: Any) -> dict[str, Any]:
    data: dict[str, Any] = {"num_timesteps": len(frames), "similarity_scores": []}
    sides = {"gt": truth, "tracker": predictions}
    for name, side in sides.items():
        codes, identities = pd.factorize(side["object"], sort=True)
        data[f"num_{name}_ids"], data[f"num_{name}_dets"] = len(identities), len(side)
        data[f"{name}_ids"] = [codes[(side["frame"] == frame).to_numpy()] for frame in frames]
    for frame in frames:
        data["similarity_scores"].append(similarities(*(side[side["frame"] == frame] for side in sides.values())))
    return data
