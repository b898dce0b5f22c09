"""How a pair of a truth and a prediction is found near, and what it costs."""

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from .similar_pairs import check_measure
from .similarity import Measure


def check_options(
    tau: float,
    epsilon: float,
    similarity: str | Measure | None,
    threshold: float,
    sigmas: Mapping[Any, float] | None = None,
) -> None:
    """Raises ValueError where what `match` takes besides tables is out of range."""
    if similarity is None:
        check_thresholds(tau, epsilon)
    elif not 0 < threshold <= 1:
        raise ValueError(f"threshold is {threshold}; a similarity above 0, up to 1, is needed")
    if similarity != "oks" and sigmas is not None:
        raise ValueError("sigmas are those of similarity='oks'")
    if isinstance(similarity, str) and similarity not in ("iou", "point", "oks"):
        raise ValueError(f"similarity is {similarity!r}; 'iou', 'point', 'oks' or a function is needed")
    if similarity is not None and similarity != "oks":
        check_measure(similarity, tau)


def check_thresholds(tau: float, epsilon: float) -> tuple[float, float]:
    """Both as floats; raises ValueError unless 0 <= epsilon < tau and tau is finite."""
    if not 0 <= epsilon < tau < np.inf:
        raise ValueError(f"tau is {tau} and epsilon {epsilon}; 0 <= epsilon < tau is needed, in pixels")
    return float(tau), float(epsilon)


def by_distance(tau: float, epsilon: float) -> dict[Hashable, Any]:
    return {"rule": "distance", "tau": float(tau), "epsilon": float(epsilon)}


def made_with(similarity: str | Measure, threshold: float, tau: float = np.nan) -> dict[Hashable, Any]:
    """What results say of how they were made."""
    name = similarity if isinstance(similarity, str) else getattr(similarity, "__name__", type(similarity).__name__)
    notes: dict[Hashable, Any] = {"rule": name if name is similarity else f"function {name}", "threshold": threshold}
    return notes | ({"tau": tau} if similarity == "point" else {})
