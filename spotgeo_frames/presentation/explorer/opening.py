"""explore(): match tables in the viewer, in a notebook."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ...support.errors import InputError
from ...support.packages import check_extra
from ...tables.table import Table

if TYPE_CHECKING:
    from .widget import Explorer


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
    A widget, which JupyterLab shows if it is the last line of a cell. Click an object, or its line in the table, to
    mark its row; hold Shift or Ctrl to mark several. The widget has these attributes:

    selection: the marked rows of the match table, with its columns, index labels and types of columns. Of several match
        tables, `submission` is the first column.
    filter: set it to see the rows that pass; all others are drawn pale, steps go to the frames that have such rows, and
        the view moves to the first of them. It is text in the words of pandas' `query` (comparisons of columns, numbers
        and texts, with names in backticks where they have blanks), a filtered table, or a Series of true and false with
        the index of the match table. Of several match tables, text may name the column `submission`, and a dict has a
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
    check_extra("widget", "explore", only="anywidget")
    from .contents import contents_of
    from .given import given_tables
    from .widget import Explorer

    folder = None if images is None else Path(images)
    if folder is not None:
        check_extra("widget", "explore: images", only="PIL")
        if not folder.is_dir():
            raise InputError(f"explore: images: {folder} is no folder; give one that has SEQUENCE/FRAME.png")
    return Explorer(contents_of(given_tables(x)), folder)
