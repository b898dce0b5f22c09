"""Writes boxes as folders of MOTChallenge: text files with a box a line, as its reader and the benchmark take them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
from pyarrow import csv

from ..support import check_none, is_file_name, pandas_tables, writing
from ..tables import Annotations, Table, as_annotations, messages, schema
from .motchallenge_lines import CLASSES, FIELDS
from .writable import unmarkable, without_identities


def write_motchallenge(annotations: Annotations | Table, folder: str | Path, *, truth: bool = False) -> None:
    """Writes boxes as text files that `read_motchallenge` and the official evaluator read.

    Every sequence of the frames table has a file, be it empty. Floats are written as short as they can be to be read
    back as they are.

    Parameters
    ----------
    annotations
        Annotations, or a table of objects, with `sequence`, `frame` (from 1), `object` (the identity), `x`, `y` (top
        left), `w` and `h` (px).
    folder
        Where predictions go to SEQUENCE.txt, with `score` (1 where there is none) after the box and then three times
        -1. If its name ends in .zip, it is an archive of SEQUENCE.txt, of predictions and of truth.
    truth
        Whether the boxes are truth. They go to SEQUENCE/gt/gt.txt, with `considered` and `class_id` (1 where there are
        none) and `visibility` where there is one, and a seqinfo.ini where there is a frames table.

    Raises
    ------
    InputError: the table is not right, frames are below 1, identities are missing or no integers, objects are crowds or
        ignored, a sequence's name cannot be that of a file, or nothing can be written there.

    Examples
    --------
    >>> import tempfile
    >>> import spotgeo_frames as sf
    >>> truth, predictions = sf.read_motchallenge("data/tracks/truth", "data/tracks/tracker")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sf.write_motchallenge(predictions, folder)
    ...     again = sf.read_motchallenge("data/tracks/truth", folder)[1]
    >>> len(again.objects) == len(predictions.objects)
    True
    """
    folder = Path(folder)
    objects, frames, *_ = as_annotations(annotations, "annotations")
    known = (
        objects[schema.FRAME_KEY]
        if frames is None
        else pd.concat([objects[schema.FRAME_KEY], frames[schema.FRAME_KEY]])
    )
    last = known.groupby(known["sequence"].astype(pandas_tables.TEXT))["frame"].agg(["min", "max"])
    problems = [f"annotations: column {column} is missing" for column in ("w", "h") if column not in objects]
    problems += ["annotations: column joint: the format knows whole objects only"] if "joint" in objects else []
    unnamable = [name for name in last.index if not is_file_name(name)]
    problems += [f"annotations: sequence {name!r} cannot be a file's name" for name in unnamable]
    problems += [f"annotations: sequence {name}: frames count from 1" for name in last.index[last["min"] < 1]]
    problems += [] if len(last) else ["annotations: there are no sequences"]
    problems += without_identities(objects)
    if objects["object"].dtype != np.int64:
        problems.append("annotations: column object is of type str; the format knows integers only")
    elif objects["object"].abs().max() >= schema.LARGEST_EXACT_INTEGER:
        problems.append("annotations: column object: some are not below 2**53; number them otherwise")
    problems += _unwritable(objects, ["considered", "class_id", "visibility"] if truth else ["score"])
    instead = f", or give them class_id {CLASSES['distractor']} (distractor) instead of the mark" if truth else ""
    form = "gt.txt" if truth else "file of a tracker"
    problems += unmarkable(objects, f"which a {form} cannot tell; leave them out{instead}")
    check_none(problems)
    table = _fields(objects, truth)
    rows = table.groupby(objects["sequence"].astype(pandas_tables.TEXT), sort=False).indices
    texts = {name: _text(table.iloc[rows.get(name, np.zeros(0, np.int64))]) for name in last.index}
    if not truth or folder.suffix.lower() == ".zip":
        writing.write_files({f"{name}.txt": text for name, text in texts.items()}, folder)
        return
    files = {f"{name}/gt/gt.txt": text for name, text in texts.items()}
    if frames is not None:
        files |= {
            f"{name}/seqinfo.ini": f"[Sequence]\nname={name}\nseqLength={end}\n".encode()
            for name, end in last["max"].items()
        }
    writing.write_files(files, folder)


def _unwritable(objects: pd.DataFrame, columns: Sequence[str]) -> list[str]:
    """What of these columns, where there are any, cannot be a field of a line."""
    problems = []
    for column in [column for column in columns if column in objects]:
        values = objects[column]
        if not pd.api.types.is_any_real_numeric_dtype(values.dtype) and not pd.api.types.is_bool_dtype(values.dtype):
            problems.append(f"annotations: column {column} is of type {values.dtype}; numbers are needed")
        elif column != "score" and values.isna().any():
            keys = messages.first_keys(objects, values.isna().to_numpy(), schema.OBJECT_KEY)
            problems.append(
                f"annotations: column {column}: {messages.counted(int(values.isna().sum()), 'row')} null: {keys}"
            )
    return problems


def _fields(objects: pd.DataFrame, truth: bool) -> pd.DataFrame:
    """The fields of each line."""
    boxes = objects[FIELDS]
    if not truth:
        scores = objects["score"].fillna(1.0) if "score" in objects else 1.0
        return boxes.assign(score=scores, world_x=-1, world_y=-1, world_z=-1)
    marks = {name: objects[name].astype("int64") if name in objects else 1 for name in ("considered", "class_id")}
    return boxes.assign(**marks, **({"visibility": objects["visibility"] * 1.0} if "visibility" in objects else {}))


def _text(table: pd.DataFrame) -> bytes:
    """The rows in the order of frames, as text."""
    text = pa.BufferOutputStream()
    ordered = pa.Table.from_pandas(table.sort_values("frame", kind="stable"), preserve_index=False)
    csv.write_csv(ordered, text, csv.WriteOptions(include_header=False))
    return text.getvalue().to_pybytes()
