"""What trackeval, the official evaluator of tracks, says of tables: the standard that track() is held against."""

import contextlib
import io
from typing import Any

import pandas as pd
from trackeval.metrics import CLEAR, HOTA, Identity

QUIET = {"PRINT_CONFIG": False}
METRICS = {"HOTA": HOTA(), "CLEAR": CLEAR(QUIET), "Identity": Identity(QUIET)}

# The fields of the summary, and which of trackeval's they are.
FIELDS = {
    **{name: ("HOTA", name) for name in ("HOTA", "DetA", "AssA", "DetRe", "DetPr", "AssRe", "AssPr", "LocA")},
    **{name: ("CLEAR", name) for name in ("MOTA", "MOTP", "MODA", "IDSW", "Frag", "MT", "PT", "ML")},
    **{name: ("CLEAR", f"CLR_{name}") for name in ("TP", "FN", "FP")},
    **{name: ("Identity", name) for name in ("IDF1", "IDP", "IDR", "IDTP", "IDFN", "IDFP")},
}


def evaluate(truth: pd.DataFrame, predictions: pd.DataFrame, similarities: Any, frames: pd.DataFrame) -> dict[Any, Any]:
    """The summary's fields by sequence, and under None for all combined; HOTA's family as the 19 values.

    `similarities(truth rows, predicted rows)` gives the matrix of one frame.
    """
    results = {}
    for sequence, numbers in frames.groupby("sequence")["frame"]:
        data = _sequence(*(t[t["sequence"] == sequence] for t in (truth, predictions)), sorted(numbers), similarities)
        with contextlib.redirect_stdout(io.StringIO()):
            results[sequence] = {name: metric.eval_sequence(data) for name, metric in METRICS.items()}
    combined = {
        name: metric.combine_sequences({sequence: found[name] for sequence, found in results.items()})
        for name, metric in METRICS.items()
    }
    return {
        sequence: {field: found[metric][name] for field, (metric, name) in FIELDS.items()}
        for sequence, found in {**results, None: combined}.items()
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
