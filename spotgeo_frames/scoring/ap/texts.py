"""What is said of average precision in words: its thresholds, how many detections count, and what is left out."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...tables import Columns, messages
from .protocol_entries import THRESHOLDS, Protocol

if TYPE_CHECKING:
    from .evaluate import Matched

# The notes of what is left out, and what they count.
LEFT_OUT = {
    "crowds": "crowds",
    "ignored": "ignored truths",
    "beyond_max_detections": "detections beyond max_detections",
    "unlabelled": "predictions in frames that are not labelled",
    "unverified": "detections of categories that nobody has looked for in their frame",
}


def listed(thresholds: Iterable[float]) -> str:
    """Thresholds as messages list them: 0.50, 0.75."""
    return ", ".join(f"{threshold:.2f}" for threshold in thresholds)


def thresholds_text(thresholds: Sequence[float] | np.ndarray, *, by_distance: bool = False) -> str:
    """Thresholds as people read them; COCO's ten are 0.50 to 0.95. Distances have the digits that they need."""
    if by_distance:
        return ", ".join(f"{tau:g}" for tau in thresholds)
    return "0.50 to 0.95" if np.array_equal(thresholds, THRESHOLDS) else listed(thresholds)


def of_text(protocol: Protocol) -> str:
    """Of what `max_detections` is the most, in words."""
    return "a frame and category" if protocol.max_detections_of == "category" else "a frame"


def most_text(protocol: Protocol) -> str:
    """How many detections count, in words; empty if all do."""
    if protocol.max_detections is None:
        return ""
    return f"at most {protocol.max_detections:,} detections {of_text(protocol)}"


def over_text(matched: Matched) -> str:
    """What the numbers are means over."""
    protocol = matched.protocol
    of = f"similarity {thresholds_text(matched.thresholds)}"
    if protocol.by_distance:
        of = f"distances of {thresholds_text(matched.thresholds, by_distance=True)} {matched.rule.unit or 'px'}"
    own = "; some categories have thresholds of their own" if protocol.by_category else ""
    most = most_text(protocol)
    return f"protocol {protocol.name}, mean over {of}{own}{f'; {most}' if most else ''}"


def left_out_lines(notes: Mapping[Hashable, Any]) -> list[str]:
    """A line that says what is left out, by the notes; none where nothing is."""
    left = [f"{notes[key]:,} {text}" for key, text in LEFT_OUT.items() if notes.get(key)]
    return [f"left out: {', '.join(left)}"] if left else []


def beyond_text(matched: Matched) -> str | None:
    """A warning of detections that do not count because there are too many of their frame and category, or None."""
    n, n_frames, _ = matched.detections.left_out
    if not n:
        return None
    which = f"{n:,} detections in {n_frames:,} frame{'s' * (n_frames > 1)} are" if n > 1 else "1 detection is"
    most = f"beyond the {matched.protocol.max_detections:,} with the highest scores of {of_text(matched.protocol)}"
    return f"{which} left out, {most}; max_detections= (in the shell --max-detections) takes more"


def one_sided_text(categories: Columns) -> str | None:
    """A warning of categories that only one side has, or None."""
    has_truths, has_predictions = (categories[name] > 0 for name in ("n_truth", "n_predicted"))
    effects = {
        ("has no truths and is left out of the means", "have no truths and are left out of the means"): (
            has_predictions & ~has_truths
        ),
        ("has no predictions, so its AP is 0", "have no predictions, so their AP is 0"): has_truths & ~has_predictions,
    }
    names = _names(categories)
    texts = [_named(names[marked], effect) for effect, marked in effects.items() if marked.any()]
    return "; ".join(texts) if texts and not any(name is None or name != name for name in names) else None


def _names(categories: Columns) -> np.ndarray:
    """The names of categories, as objects of Python."""
    names = np.empty(len(categories), object)
    names[:] = categories.stored["category"].tolist()
    return names


def unlisted_text(matched: Matched, categories: Columns) -> str | None:
    """A warning of categories whose frequency the protocol needs and the truth's table does not list, or None."""
    if not matched.protocol.frequencies or matched.frequency is None:
        return None
    is_known = np.isin(matched.frequency.astype(str), ("r", "c", "f"))
    names = _names(categories)[(categories["n_truth"] > 0) & ~is_known]
    effect = (
        "is not in the table of categories, so APr, APc and APf leave it out",
        "are not in the table of categories, so APr, APc and APf leave them out",
    )
    return _named(names, effect) if len(names) else None


def _named(names: Any, effect: tuple[str, str]) -> str:
    """How many categories these are, what that means for one or for several, and the names of the first few."""
    which = f"1 category {effect[0]}" if len(names) == 1 else f"{len(names):,} categories {effect[1]}"
    return f"{which}: {messages.first_listed(names)}"
