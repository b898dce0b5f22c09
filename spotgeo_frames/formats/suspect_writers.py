"""write_suspects(): suspects among labels as pre-annotations, for Label Studio and FiftyOne.

Label Studio imports a list of tasks whose `predictions` it shows for people to correct
(https://labelstud.io/guide/predictions). FiftyOne's samples have the form of an exported FiftyOneDataset
(https://docs.voxel51.com/user_guide/export_datasets.html).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from ..support import InputError, writing
from ..tables import Table, arrow, messages, schema
from .fiftyone import SAMPLES

Tool = Literal["label_studio", "fiftyone"]
NEEDED = ("suspicion", *schema.FRAME_KEY, *schema.BOX, "look_at")


def write_suspects(
    suspects: Table, path: str | Path, tool: Tool = "label_studio", *, image_size: tuple[float, float] | None = None
) -> None:
    """Writes suspects among labels, which are boxes, so that Label Studio or FiftyOne shows them for relabelling.

    Parameters
    ----------
    suspects
        What `label_suspects` returned, or rows of it, of boxes (px).
    path
        For Label Studio a file to write, such as suspects.json: a task for each image, with a rectangle for each
        suspect, called by its class, and what to look at as its text. For FiftyOne a folder, which gets `samples.json`:
        a sample for each image, with a field `suspects` of detections that have the suspicion as their tag.
    tool
        "label_studio" or "fiftyone".
    image_size
        The width and height of all images (px). Not needed where the table of frames had `width` and `height`.

    Images are called by `file_name` where the table of frames had it, and otherwise SEQUENCE/FRAME. The file is written
    beside its place and moved there.

    Raises
    ------
    InputError: `suspects` lacks a column, as where objects are no boxes (`to_csv` writes any), the sizes of images are
        not known, or the file cannot be written.
    ValueError: there is no such tool.

    Examples
    --------
    >>> import json, pathlib, tempfile
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/boxes/truth.parquet")
    >>> suspects = sf.label_suspects(sf.match(truth, sf.read_objects("data/boxes/v1.parquet")))
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "suspects.json"
    >>> sf.write_suspects(suspects[suspects["suspicion"] != "never_found"], path, image_size=(1000, 600))
    >>> task = json.loads(path.read_text())[0]
    >>> task["data"]["image"], task["predictions"][0]["result"][0]["value"]["rectanglelabels"]
    ('8/2', ['car'])
    """
    if tool not in ("label_studio", "fiftyone"):
        raise ValueError(f"tool is {tool!r}; 'label_studio' or 'fiftyone' is needed")
    table = arrow.as_pandas(suspects, "suspects")
    hint = "suspects of boxes are written; to_csv() writes any"
    lacking = [messages.missing("suspects", name, table.columns, hint) for name in NEEDED if name not in table]
    if lacking:
        raise InputError(lacking)
    table = table.assign(**_sizes(table, image_size), image=_images(table), label=_labels(table))
    if "score" in table and table["score"].isna().any():  # tools take scores of all rectangles, or of none
        table = table.drop(columns="score")
    images, target = table.groupby("image", sort=False), Path(path)
    content: Any = [_task(image, rows) for image, rows in images]
    if tool == "fiftyone":
        content, target = {"samples": [_sample(image, rows) for image, rows in images]}, target / SAMPLES
    writing.write_together({target: writing.text_file(json.dumps(content, indent=1))})


def _sizes(table: pd.DataFrame, image_size: tuple[float, float] | None) -> dict[str, Any]:
    """The width and height of the image of each row; raises InputError where they are not known."""
    if image_size is not None:
        return {"width": float(image_size[0]), "height": float(image_size[1])}
    sizes = {name: table[name] if name in table else pd.Series(np.nan, table.index) for name in ("width", "height")}
    if any(of.isna().any() for of in sizes.values()):
        raise InputError("suspects: the sizes of images are not known; give image_size=(width, height), in px")
    return sizes


def _images(table: pd.DataFrame) -> pd.Series:
    """What the image of each row is called."""
    named = table["sequence"].astype(str) + "/" + table["frame"].astype(str)
    return table["file_name"].fillna(named) if "file_name" in table else named


def _labels(table: pd.DataFrame) -> pd.Series:
    """The class of each suspect: the detection's, or else the label's; its suspicion where there are no classes."""
    answer = pd.Series(pd.NA, table.index, dtype=object)
    for name in ("predicted_category", "truth_category"):
        if name in table:
            answer = answer.where(answer.notna(), table[name].astype(object))
    return answer.where(answer.notna(), table["suspicion"].astype(object)).astype(str)


def _task(image: Any, rows: pd.DataFrame) -> dict[str, Any]:
    """A task of Label Studio; places are in percent of the image."""
    result = []
    for number, row in enumerate(rows.to_dict("records"), 1):
        percent = {
            "x": 100 * row["x"] / row["width"],
            "y": 100 * row["y"] / row["height"],
            "width": 100 * row["w"] / row["width"],
            "height": 100 * row["h"] / row["height"],
        }
        region: dict[str, Any] = {
            "id": f"suspect{number}",
            "type": "rectanglelabels",
            "from_name": "label",
            "to_name": "image",
        }
        region |= {"original_width": row["width"], "original_height": row["height"], "image_rotation": 0}
        region |= {"value": percent | {"rotation": 0, "rectanglelabels": [row["label"]]}}
        region |= {"meta": {"text": [f"{row['suspicion']}: {row['look_at']}"]}} | _score(row, "score")
        result.append(region)
    return {"data": {"image": str(image)}, "predictions": [{"model_version": "label_suspects", "result": result}]}


def _sample(image: Any, rows: pd.DataFrame) -> dict[str, Any]:
    """A sample of FiftyOne; places are in shares of the image."""
    detections = [
        {
            "_cls": "Detection",
            "label": row["label"],
            "bounding_box": [
                row["x"] / row["width"],
                row["y"] / row["height"],
                row["w"] / row["width"],
                row["h"] / row["height"],
            ],
            "tags": [str(row["suspicion"])],
            "look_at": row["look_at"],
        }
        | _score(row, "confidence")
        for row in rows.to_dict("records")
    ]
    first = rows.iloc[0]
    size = {"_cls": "ImageMetadata", "width": int(first["width"]), "height": int(first["height"])}
    suspects = {"_cls": "Detections", "detections": detections}
    return {"filepath": str(image), "metadata": size, "suspects": suspects}


def _score(row: Mapping[Any, Any], name: str) -> dict[str, float]:
    """The score of a suspect under this name; nothing where suspects have none."""
    return {name: float(row["score"])} if "score" in row else {}
