"""What all batches together tell of how the two sides fit: the sequences that have truth, and the categories.

A single batch may lack the truth of a sequence, or the categories of the other side; only all of them tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..matching.agreement import Unknown
from ..matching.left_out import apart_of_parts, unknown_text
from ..tables.annotations import SideColumns
from ..tables.messages import MOST_NAMED
from .plain_batches import PlainSide
from .seen_frames import Codes, coded_keys, sequence_and_frame


class SeenSides:
    """The sequences that have truths or frames of the truth, by their codes, and the categories of each side.

    `classes` is None once a category is on both sides; what comes later is then of no interest.
    """

    def __init__(self) -> None:
        self.with_truth: set[int] = set()
        self.classes: tuple[set[Any], set[Any]] | None = set(), set()

    def add_plain(self, truth: PlainSide, predictions: PlainSide, categories: Codes) -> None:
        """Adds the sides of a plain batch, whose categories are numbers, or codes of text."""
        self.with_truth.update(truth.sequence.tolist())
        if truth.listed is not None:
            self.with_truth.update(sequence_and_frame(frame)[0] for frame in truth.listed)
        if self.classes is not None and truth.category is not None and predictions.category is not None:
            codes = [np.unique(side.category).tolist() for side in (truth, predictions) if side.category is not None]
            is_text = truth.form.text.get("category", False) or predictions.form.text.get("category", False)
            names = categories.names if is_text else {}
            self._add_classes(*([names.get(code, code) for code in of_side] for of_side in codes))

    def add_checked(self, truth: SideColumns, predictions: SideColumns, sequences: Codes) -> None:
        """Adds the sides of a batch of checked tables."""
        for table in (truth.objects, truth.frames):
            codes = None if table is None else coded_keys(table["sequence"], sequences)
            self.with_truth.update([] if codes is None else codes.tolist())
        if self.classes is not None and "category" in truth.objects and "category" in predictions.objects:
            self._add_classes(*([*side.objects["category"]] for side in (truth, predictions)))

    def add(self, other: SeenSides, code: Mapping[int, int]) -> None:
        """Adds what another has seen, whose sequences have these codes here."""
        self.with_truth.update(code.get(sequence, sequence) for sequence in other.with_truth)
        if other.classes is None:
            self.classes = None
        else:
            self._add_classes(*other.classes)

    def _add_classes(self, truth: Any, predictions: Any) -> None:
        if self.classes is None:
            return
        self.classes[0].update(truth)
        self.classes[1].update(predictions)
        if not self.classes[0].isdisjoint(self.classes[1]):
            self.classes = None

    def warning(self, sequences: Sequence[int], n_predicted: np.ndarray, names: Mapping[int, Any]) -> str | None:
        """A warning of sequences without truth, and of sides that have no category in common; or None.

        `n_predicted` is how many predictions each of the sequences has; `names` are those of sequences that have codes.
        """
        texts = [None if self.classes is None else apart_of_parts(*self.classes)]
        alone = [place for place, code in enumerate(sequences) if n_predicted[place] and code not in self.with_truth]
        if alone:
            first = [str(names.get(sequences[place], sequences[place])) for place in alone[: MOST_NAMED + 1]]
            texts.append(unknown_text(Unknown(len(alone), first, int(n_predicted[alone].sum())), labelled=False))
        return "; ".join(filter(None, texts)) or None
