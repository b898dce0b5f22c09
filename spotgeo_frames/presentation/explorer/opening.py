"""explore(): match tables in the viewer, in a notebook, taken out of what it was given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from ...analysis.errors import with_confused
from ...geometries import with_places
from ...scoring import AveragePrecision
from ...support import InputError, packages
from ...tables import Table, TableKind, checks, messages, schema
from ..drawing import drawn_tables

if TYPE_CHECKING:
    from .widget import Explorer


# The name of a match table that was given alone.
ALONE = "matches"

COORDINATES = [f"{prefix}{axis}" for prefix in schema.SIDE_PREFIXES for axis in "xy"]

# The column that names the match tables that were put together as one.
SUBMISSION = "submission"

# What names an object on each side.
OBJECTS = ("truth_object", "predicted_object")


class Given(NamedTuple):
    """A match table that was given.

    Attributes
    ----------
    table
        The table with the index, the columns and the types of columns that it was given with; of polars and pyarrow, as
        pandas.
    kind
        The kind of table that it was given as.
    matches
        The same rows as a checked match table.
    """

    table: pd.DataFrame
    kind: TableKind
    matches: pd.DataFrame


def explore(
    x: Table | NamedTuple | Mapping[str, Table | NamedTuple] | Sequence[Table | NamedTuple],
    images: str | Path | None = None,
) -> Explorer:
    """Opens match tables in a viewer within a notebook; rows that are marked or tagged there come back as tables.

    Parameters
    ----------
    x
        A match table of points, boxes, joints or poses, with the coordinates of both sides (px); or what `track`,
        `pose` or `average_precision` returned. Of average precision, matches at a threshold of 0.5 are shown, or at its
        first one. A dict by name or a list of several with the same truth shows them beside one another, and so does a
        table of several with a column `submission`. A filtered table has lost rows, and what it has lost cannot be
        drawn. So the view says how many truths and predictions of the frame were filtered out; to see them, drawn pale,
        open the whole table and set `filter`.
    images
        A folder of pictures of the frames, or None. The picture of a frame is the file that a column `file_name` of the
        truth's frames or objects names, or else SEQUENCE/FRAME.png, .jpg or .jpeg, or SEQUENCE/img1/000001.jpg as
        folders of MOTChallenge have it.

    Returns
    -------
    A widget, which JupyterLab and Jupyter Notebook show if it is the last line of a cell. Click an object, or its line
    in the table, to mark its row; hold Shift or Ctrl to mark several. Below the frames, patches show each error with
    what lies around it, counts tell how many rows of each value of a column are found, missed and false, or which class
    is taken for which, and a scatter has a point for each row: click a patch or a count, or draw around points, to mark
    their rows. All of them are about the rows that pass the filter. The widget has these attributes:

    selection: the marked rows of the match table, with its columns, index labels and types of columns. Of several match
        tables, `submission` is the first column.
    filter: set it to see the rows that pass; all others are drawn pale, steps go to the frames that have such rows, and
        the view moves to the first of them. It is text in the words of pandas' `query` (comparisons of columns, numbers
        and texts, with names in backticks where they have blanks), a filtered table, what `label_suspects` returned,
        whose labels and detections then pass, or a Series of true and false with the index of the match table. Of
        several match tables, text may name the column `submission`, and a dict has a
        table or a Series for each name. None removes it.
    tags: a table of the rows that were tagged in the view, each with its `tag` and its key: `sequence`, `frame`,
        `joint` where there are joints, `truth_object` and `predicted_object` (null where a row has none). Of several
        match tables, `submission` is the first column. Tags are kept as long as the widget is. Set them to those of an
        earlier widget to go on from there, or to None to begin anew.

    Tables come back as the kind that was given. Only frames that are looked at are sent to the browser.

    Raises
    ------
    InputError: `x` has no rows, lacks the coordinates or the names of objects, has several thresholds in one table, or
        tables of different truths; or `images` is no folder. Later, `filter` or `tags` are set to something that does
        not fit: a text that does not parse, has more than comparisons, or names a column that is not there; a Series of
        another index; a table without the key of rows; or the widget is closed.
    ImportError: the extra `widget` is not installed; the message says how.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth, eager = (sf.read_objects(f"data/sample/{name}.parquet") for name in ("truth", "eager"))
    >>> matches = sf.match(truth, eager)
    >>> widget = sf.explore(matches)
    >>> widget.filter = "truth_brightness < 50 and outcome == 'FN'"
    >>> len(widget.selection)  # nothing is marked yet
    0

    Tags become a column of the match table, and so of slices, or of the truth:

    >>> tagged = matches.merge(widget.tags, how="left")
    >>> of_truth = widget.tags.rename(columns={"truth_object": "object"})[["sequence", "frame", "object", "tag"]]
    >>> truth.objects.merge(of_truth, how="left")["tag"].count()
    np.int64(0)
    """
    packages.check_extra("widget", "explore", only="anywidget")
    from .contents import contents_of
    from .widget import Explorer

    folder = None if images is None else Path(images)
    if folder is not None:
        packages.check_extra("widget", "explore: images", only="PIL")
        if not folder.is_dir():
            raise InputError(f"explore: images: {folder} is no folder; give one that has SEQUENCE/FRAME.png")
    return Explorer(contents_of(given_tables(x)), folder)


def given_tables(x: Any) -> dict[str, Given]:
    """The match tables of `x` by name: one, or a dict or a list of several, or results that have match tables.

    A table with a column `submission` has several, too.

    Raises InputError if there is none, if one is no match table or lacks geometry, or if they do not fit together.
    """
    if isinstance(x, Mapping):
        tables = {str(name): table for name, table in x.items()}
        if len(tables) < len(x):
            raise InputError("explore: x: two of its names are the same as text; give each table another")
    elif isinstance(x, list | tuple) and not hasattr(x, "_fields"):  # results are NamedTuples
        tables = {str(place): table for place, table in enumerate(x, 1)}
    else:
        answer = _by_submission(_given(x, "explore: x"))
        _check_rows(answer)
        return answer
    if not tables:
        raise InputError("explore: x has no match table; give one or several")
    answer = {name: _given(table, f"explore: {name}") for name, table in tables.items()}
    named = [name for name, one in answer.items() if SUBMISSION in one.matches]
    if named:
        problem = f"column {SUBMISSION} is there, but the names of x are those of the submissions"
        raise InputError(f"explore: {named[0]}: {problem}; leave the column out")
    _check_rows(answer)
    _check_alike({name: one.matches for name, one in answer.items()})
    return answer


def _by_submission(one: Given) -> dict[str, Given]:
    """A match table of several submissions, put together with a column `submission`, as one table of each."""
    if SUBMISSION not in one.matches:
        return {ALONE: one}
    names = drawn_tables.names_of_rows(one.matches, "explore: x")
    rows = {name: np.flatnonzero(names == name) for name in names.unique()}
    table, matches = one.table, one.matches.drop(columns=SUBMISSION)
    if len(rows) > 1:  # else no other column will say it
        table = table.drop(columns=SUBMISSION, errors="ignore")
    return {name: Given(table.take(at), one.kind, matches.take(at)) for name, at in rows.items()}


def _check_rows(answer: Mapping[str, Given]) -> None:
    """Raises InputError if no match table has rows."""
    if not any(len(one.matches) for one in answer.values()):
        raise InputError("explore: x has no rows, so there is nothing to show; give a match table with rows")


def _given(x: Any, name: str) -> Given:
    """The match table of a table or of a result; messages begin with `name`."""
    table, kind = drawn_tables.given_matches(x, name)
    matches = with_places(_checked(table, name))
    checks.check_one_slice(matches, name)
    absent = [column for column in (*COORDINATES, *OBJECTS) if column not in matches]
    lacking = [messages.missing(name, column, matches.columns, "match() makes it") for column in absent]
    if lacking:
        raise InputError(lacking)
    return Given(table, kind, _with_classes(matches, x) if isinstance(x, AveragePrecision) else matches)


def _with_classes(matches: pd.DataFrame, of: AveragePrecision) -> pd.DataFrame:
    """The matches of average precision with the columns that tell which class was detected as which."""
    named = matches.assign(submission=ALONE)
    threshold = float(matches["threshold"].iloc[0]) if len(matches) else 0.0
    is_similarity = schema.measure_of(matches) == "similarity" and 0 < threshold <= 1
    told, confused = with_confused(named, {ALONE: of}, threshold if is_similarity else None)
    return matches if confused is None else told.drop(columns="submission")


def _checked(table: pd.DataFrame, name: str) -> pd.DataFrame:
    """A checked match table of all rows, in their order; of average precision, with the rows that are ignored."""
    if not schema.is_of_precision(table.columns):
        return checks.check_matches(table, name)
    if len(table["threshold"].unique()) > 1:
        raise InputError(messages.several_thresholds(name, "give the rows of one, such as x[x['threshold'] == 0.5]"))
    marks = table["ignored"]
    if len(table) and not pd.api.types.is_bool_dtype(marks.dtype):
        raise InputError(f"{name}: column ignored is of type {marks.dtype}; true or false is needed")
    return checks.check_matches(table.drop(columns="ignored"), name).assign(
        ignored=marks.to_numpy(bool, na_value=False)
    )


def _check_alike(tables: Mapping[str, pd.DataFrame]) -> None:
    """Raises InputError if match tables cannot be shown together."""
    first, *others = tables
    key = [*schema.FRAME_KEY, "joint"]
    for other in others:
        one, two = tables[first], tables[other]
        if schema.measure_of(one) != schema.measure_of(two):
            problem = "one was matched by distance, the other by similarity"
        elif ("joint" in one) != ("joint" in two):
            problem = "only one of the tables has a column joint"
        else:
            odd = [name for name in key if name in one and _is_text(one[name]) != _is_text(two[name])]
            problem = f"column {odd[0]} is text in only one of the tables; make them the same" if odd else ""
        if problem:
            raise InputError(f"explore: {first} and {other}: {problem}")


def _is_text(values: pd.Series) -> bool:
    """Whether a column of names is of text; one without rows is of any type."""
    return len(values) > 0 and not pd.api.types.is_numeric_dtype(values.dtype)
