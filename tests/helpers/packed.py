"""Reads back what the viewer is given, as its JavaScript does."""

import json
from typing import Any

import numpy as np

from spotgeo_frames.presentation.viewer.view import View

Values = list[Any]


def read_column(column: dict[str, Any], n_rows: int, content: bytes) -> Values:
    """The values of a column, with None for null."""
    form = np.dtype(column["form"]).newbyteorder("<")
    assert column["offset"] % 8 == 0
    planes = np.frombuffer(content, np.uint8, n_rows * form.itemsize, column["offset"])
    array = np.ascontiguousarray(planes.reshape(form.itemsize, n_rows).T).view(form).ravel()
    if "values" in column:
        return [None if code == -1 else column["values"][code] for code in array.tolist()]
    if form.kind == "f":
        return [None if value != value else value for value in array.tolist()]
    null = np.iinfo(form).min
    return [None if value == null else value / 10 ** column["decimals"] for value in array.tolist()]


def read_table(table: dict[str, Any], content: bytes) -> dict[str, Values]:
    names = [column["name"] for column in table["columns"]]
    assert len({*names}) == len(names)
    return {column["name"]: read_column(column, table["n"], content) for column in table["columns"]}


def read_masks(view: View) -> dict[str, Values | None]:
    """The masks of truths, and of the predictions of each submission; of each row the text, None for one left out."""
    about = json.loads(json.dumps(view.about, allow_nan=False))
    tables = {"truth": about["truth"]} | {one["name"]: one["predicted"] for one in about["submissions"]}
    return {name: _read_texts(table, view.content) if "masks" in table else None for name, table in tables.items()}


def _read_texts(table: dict[str, Any], content: bytes) -> Values:
    lengths = [int(length) for length in read_column(table["masks"]["lengths"], table["n"], content)]
    texts, start = [], table["masks"]["text"]
    for length in lengths:
        texts.append(None if length < 0 else content[start : start + length].decode())
        start += max(length, 0)
    return texts


def read_view(view: View) -> dict[str, Any]:
    """All tables of a view, after its `about` was written and read as JSON."""
    about = json.loads(json.dumps(view.about, allow_nan=False))
    tables = {name: read_table(about[name], view.content) for name in ("sequences", "frames", "truth")}
    parts = ("frames", "predicted", "pairs")
    submissions = {
        one["name"]: {part: read_table(one[part], view.content) for part in parts} for one in about["submissions"]
    }
    return about | tables | {"submissions": submissions}
