"""Which class is taken for which: a matrix for each submission, whose cells lead to their rows in the frames."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ....analysis.errors import DETECTED_AS, DETECTION_OF, MOST_CONFUSED
from ....support import DASH, label, number_text, without_direction_marks
from ..evaluation import Evaluation
from ..html.blocks import Block, Text
from ..html.matrices import Cell, Matrix, address_of

ABOUT_MATRIX = (
    "Here detections choose truths of any class, the highest score first, as confusion() has it, so that what is taken "
    "for another class is found, too. Rows are true classes, columns what they were detected as; “{background}” is "
    "nothing: missed truths in its column, false alarms in its row. Shares are of the row. A cell leads to its rows in "
    "the frames."
)
NO_SCORES = (
    "Which class is taken for which is not told here: confusion() needs boxes or poses whose predictions all have "
    "scores, matched by similarity and without identities."
)
TOO_MANY = (
    "Which class is taken for which is left out, because it takes long for so many objects; confusion() tells it of "
    "what average_precision() returned."
)
OTHERS = (
    "The {n_shown} classes that are most often confused are here; “{name}” adds up {n_others:,} more. If the "
    "Parquet tables were written, they have all of them."
)
MOST_FREQUENT = "{who}{truth} is most often taken for {predicted}: {count} of {n} ({share}).{ties}"
TIES = " {n} taken for another as often."
NONE_CONFUSED = "{who}no class is taken for another."
MORE_MATRICES = "Only the best {n} submissions have a matrix here."

# The most classes of a matrix, and the most matrices, that a page has room for.
MOST_CLASSES, MOST_MATRICES = 12, 4

# How strong the colour of a cell with all of its row is, in percent.
TINT = 45


def matrices(evaluation: Evaluation) -> list[Block]:
    """A matrix for each submission, with the most frequent confusion in words."""
    confused = evaluation.confused
    if confused is None:
        many = bool(evaluation.precisions) and len(evaluation.matches) > MOST_CONFUSED
        return [Text(TOO_MANY if many else NO_SCORES, "note")]
    squares = _of_all_classes({name: _square(counts) for name, counts in confused.counts.items()})
    if len(next(iter(squares.values()))) <= 2:  # one class and background
        return []
    blocks: list[Block] = [Text(_most_frequent(evaluation, name, square)) for name, square in squares.items()]
    blocks.append(Text(ABOUT_MATRIX.format(background=confused.background), "note"))
    chosen, others = _chosen([*squares.values()])
    if others:
        called = _others(len(others))
        blocks.append(Text(OTHERS.format(n_shown=len(chosen), name=called, n_others=len(others)), "note"))
    shown = evaluation.names[:MOST_MATRICES]
    blocks += [_matrix(evaluation, name, squares[name], chosen, others) for name in shown]
    if len(evaluation.names) > MOST_MATRICES:
        blocks.append(Text(MORE_MATRICES.format(n=MOST_MATRICES), "note"))
    return blocks


def _others(n_others: int) -> str:
    """What the classes that have no row of their own are called."""
    return f"{n_others:,} other {'class' if n_others == 1 else 'classes'}"


def _square(counts: pd.DataFrame) -> pd.DataFrame:
    """The counts with a row a true class and a column a detected one, by their texts, background last as null."""
    size = int(np.sqrt(len(counts)))
    names = [None if pd.isna(name) else label(name) for name in counts["predicted_category"].iloc[:size]]
    square = counts["count"].to_numpy().reshape(size, size)
    return pd.DataFrame(square, index=pd.Index(names, dtype=object), columns=pd.Index(names, dtype=object))


def _of_all_classes(squares: Mapping[str, pd.DataFrame]) -> dict[str, pd.DataFrame]:
    """Squares with the classes of all submissions, of which a detector may claim one that no other has."""
    names = dict.fromkeys(name for square in squares.values() for name in square.index if name is not None)
    every = pd.Index([*names, None], dtype=object)
    return {name: square.reindex(index=every, columns=every, fill_value=0) for name, square in squares.items()}


def _confusions(square: pd.DataFrame) -> np.ndarray:
    """How often each class is taken for each other one; background is none."""
    between = square.to_numpy()[:-1, :-1].copy()
    np.fill_diagonal(between, 0)
    return between


def _most_frequent(evaluation: Evaluation, name: str, square: pd.DataFrame) -> str:
    """The most frequent confusion in words."""
    who = f"{name}: " if evaluation.whose else ""
    between = _confusions(square)
    if not between.any():
        told = NONE_CONFUSED.format(who=who)
        return told if who else told[:1].upper() + told[1:]
    row, column = divmod(int(between.argmax()), len(between))
    count, total = int(between[row, column]), int(square.to_numpy()[row].sum())
    share = number_text(count / total, share=True)
    names, n_ties = square.index, int((between == count).sum()) - 1
    ties = TIES.format(n="One more class is" if n_ties == 1 else f"{n_ties:,} more are") if n_ties else ""
    return MOST_FREQUENT.format(
        who=who, truth=names[row], predicted=names[column], count=f"{count:,}", n=f"{total:,}", share=share, ties=ties
    )


def _chosen(squares: Sequence[pd.DataFrame]) -> tuple[list[int], list[int]]:
    """The positions of the classes that are shown, the most often confused first, and those of the others.

    The classes of each submission's most frequent confusion, which is told in words, are among them. A last class
    alone has a row of its own, since one that stands for others would be no shorter.
    """
    each = [_confusions(square) for square in squares]
    between = np.sum(each, axis=0)
    told = np.zeros(len(between), bool)
    for one in each[:MOST_MATRICES]:
        told[[*divmod(int(one.argmax()), len(one))]] |= one.any()
    order = np.argsort(-(between.sum(axis=0) + between.sum(axis=1)), kind="stable").tolist()
    most = MOST_CLASSES + (len(order) == MOST_CLASSES + 1)
    shown = {*sorted(order, key=lambda at: not told[at])[:most]}
    return [at for at in order if at in shown], [at for at in order if at not in shown]


def _matrix(
    evaluation: Evaluation, name: str, square: pd.DataFrame, chosen: Sequence[int], others: Sequence[int]
) -> Matrix:
    """The matrix of a submission; what is not shown by itself is added up before background."""
    assert evaluation.confused is not None
    background, groups = evaluation.confused.background, [*([at] for at in chosen), *([[*others]] if others else [])]
    groups.append([len(square) - 1])
    starts = np.array([at for group in groups for at in group])
    sizes = np.cumsum([0, *map(len, groups[:-1])])
    counts = square.to_numpy()[np.ix_(starts, starts)]
    counts = np.add.reduceat(np.add.reduceat(counts, sizes, axis=0), sizes, axis=1)
    # Classes stand for themselves; what was added up has no name that a filter would know.
    names = [square.index[group[0]] if len(group) == 1 else None for group in groups[:-1]]
    named = [_others(len(others)) if of is None else of for of in names]
    cells = [
        [_cell(name, (names, named), (row, column), counts, background) for column in range(len(groups))]
        for row in range(len(groups))
    ]
    whose = f" by {name}" if evaluation.whose else ""
    titles = [*named, background]
    return Matrix(f"Which class is detected as which{whose}", "true class", "detected as", titles, titles, cells)


def _cell(
    submission: str, of_classes: tuple[list[Any], list[str]], at: tuple[int, int], counts: np.ndarray, background: str
) -> Cell:
    """A cell of a matrix; the last row and column are background."""
    (names, named), (row, column), last = of_classes, at, len(counts) - 1
    count, total = int(counts[row, column]), int(counts[row].sum())
    share = count / total if total else np.nan
    if row == last:
        about = f"false alarms of {named[column]}" if column < last else "background"
        conditions = {} if column == last else {"predicted_category": names[column], DETECTION_OF: background}
    elif column == last:
        about, conditions = f"{named[row]} missed", {"truth_category": names[row], DETECTED_AS: background}
    else:
        about = f"{named[row]} detected as {named[column]}"
        conditions = {"truth_category": names[row], DETECTED_AS: names[column]}
    shown, share_text = f"{count:,}", DASH if row == column == last else number_text(share, share=True)
    address = ""
    if count and conditions and None not in conditions.values():
        plain = {key: without_direction_marks(value) for key, value in conditions.items()}
        address = address_of(without_direction_marks(submission), plain)
    tint = 0 if np.isnan(share) else round(TINT * share)
    # What was added up may have been taken for each other.
    is_right = row == column < last and names[row] is not None
    return Cell(shown, share_text, tint, f"{shown}, {share_text}: {about}", address, is_right)
