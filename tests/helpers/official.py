"""What trackeval, the official evaluator of tracks, says of tables: the standard that track() is held against."""

import contextlib
import io
from typing import Any

import numpy as np
import pandas as pd
import pytest
from trackeval.metrics import CLEAR, HOTA, Identity

import spotgeo_frames as sf

QUIET = {"PRINT_CONFIG": False}
METRICS = {"HOTA": HOTA(), "CLEAR": CLEAR(QUIET), "Identity": Identity(QUIET)}

# The fields of the summary, and which of trackeval's they are.
CURVES = ("HOTA", "DetA", "AssA", "DetRe", "DetPr", "AssRe", "AssPr", "LocA", "OWTA")
CLEAR_SHARES = ["sMOTA", "MOTAL", "CLR_F1", "CLR_Re", "CLR_Pr", "FP_per_frame", "MTR", "PTR", "MLR"]
FIELDS = {
    **{name: ("HOTA", name) for name in CURVES},
    **{name: ("CLEAR", name) for name in ("MOTA", "MOTP", "MODA", "IDSW", "Frag", "MT", "PT", "ML")},
    **{name: ("CLEAR", f"CLR_{name}") for name in ("TP", "FN", "FP")},
    **{name: ("HOTA", name) for name in ("HOTA(0)", "LocA(0)")},
    **{name: ("CLEAR", name) for name in CLEAR_SHARES},
    **{name: ("Identity", name) for name in ("IDF1", "IDP", "IDR", "IDTP", "IDFN", "IDFP")},
}


def evaluate(truth: pd.DataFrame, predictions: pd.DataFrame, similarities: Any, frames: pd.DataFrame) -> dict[Any, Any]:
    """The summary's fields by sequence, and under None for all combined; HOTA's family as the 19 values.

    `similarities(truth rows, predicted rows)` gives the matrix of one frame.
    """
    loaded = {
        sequence: _sequence(*(t[t["sequence"] == sequence] for t in (truth, predictions)), sorted(rows), similarities)
        for sequence, rows in frames.groupby("sequence")["frame"]
    }
    return numbers(loaded)


def numbers(loaded: dict[Any, dict[str, Any]]) -> dict[Any, Any]:
    """The same of sequences as trackeval's datasets load them."""
    with contextlib.redirect_stdout(io.StringIO()):
        found = {
            sequence: {name: metric.eval_sequence(data) for name, metric in METRICS.items()}
            for sequence, data in loaded.items()
        }
        combined = {
            name: metric.combine_sequences({sequence: each[name] for sequence, each in found.items()})
            for name, metric in METRICS.items()
        }
    return {sequence: fields(each) for sequence, each in {**found, None: combined}.items()}


def fields(found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """The summary's fields of what trackeval found."""
    return {field: found[metric][name] for field, (metric, name) in FIELDS.items()}


def same(got: sf.TrackResult, wanted: dict[Any, Any]) -> None:
    """Every number of the summary and of the curve is the official one."""
    rows = {None if pd.isna(row["sequence"]) else row["sequence"]: row for row in got.summary.to_dict("records")}
    assert list(rows) == list(wanted)
    for sequence, values in wanted.items():
        for field, value in values.items():
            assert rows[sequence][field] == pytest.approx(np.mean(value), rel=1e-9, abs=1e-9), (sequence, field)
        names = got.curve["sequence"]
        in_curve = names.isna() if sequence is None else names.eq(sequence).fillna(False)
        for field in CURVES:
            np.testing.assert_allclose(got.curve.loc[in_curve, field], values[field], rtol=1e-9, atol=1e-9)


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
