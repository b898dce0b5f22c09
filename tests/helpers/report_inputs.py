"""What tests of the report are made of: truths and predictions at random, hostile names, pictures, pages as read."""

import base64
import html.parser
import io
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

import spotgeo_frames as sf
from helpers.packed import read_view
from spotgeo_frames.presentation.viewer.view import View

# The classes of `pets`.
PETS = ["cat", "dog", "horse"]

HOSTILE = "<script>alert(1)</script>"
QUOTED = '"><img src=x onerror=alert(2)>'


class Page(html.parser.HTMLParser):
    """What a browser would make of a page: its elements, its text, and the data embedded in it."""

    def __init__(self, path: Path):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.open: list[str] = []
        self.raw = path.read_text("utf-8")
        self.feed(self.raw)
        [embedded] = re.findall(r'<script type="application/json" id="data">(.*?)</script>', self.raw, re.DOTALL)
        self.data = json.loads(embedded, parse_constant=lambda text: pytest.fail(f"{text} is not JSON"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        self.open.append("")

    def handle_data(self, data: str) -> None:
        if self.open[-1:] not in (["script"], ["style"]) and data.strip():
            self.text.append(" ".join(data.split()))

    def says(self, text: str) -> bool:
        """Whether a part of the page's text has this in it."""
        return any(text in part for part in self.text)

    def view(self) -> dict[str, Any]:
        """All tables that the viewer shows."""
        [content] = re.findall(r'<script type="application/octet-stream" id="content">(.*?)</script>', self.raw)
        return read_view(View(self.data["view"], zlib.decompress(base64.b64decode(content)), []))

    def exact(self) -> list[float]:
        """All digits of the headline's numbers, row by row."""
        values = [attrs["value"] for tag, attrs in self.elements if tag == "data"]
        return [np.nan if value == "–" else float(str(value)) for value in values]


def many(n_sequences: int, n_frames: int = 5, n_objects: int = 4, seed: int = 0) -> tuple[sf.Annotations, pd.DataFrame]:
    """Truths at random, and predictions that miss some, move all and make some up."""
    random = np.random.default_rng(seed)
    shape = n_sequences * n_frames * n_objects
    table = pd.DataFrame(
        {
            "sequence": np.arange(shape) // (n_frames * n_objects) + 1,
            "frame": np.arange(shape) // n_objects % n_frames + 1,
            "object": np.arange(shape) % n_objects,
            "x": random.uniform(0, 640, shape),
            "y": random.uniform(0, 480, shape),
        }
    )
    kept = table[random.uniform(size=shape) > 0.3]
    moved = kept.assign(x=kept["x"] + random.normal(0, 3, len(kept)), score=random.uniform(size=len(kept)))
    return sf.Annotations(table, table[["sequence", "frame"]].drop_duplicates()), moved


def many_boxes(n_sequences: int) -> tuple[sf.Annotations, pd.DataFrame]:
    """The same as boxes of 40 x 20 px."""
    truth, predictions = many(n_sequences)
    size = {"w": 40.0, "h": 20.0}
    return truth._replace(objects=truth.objects.assign(**size)), predictions.assign(**size)


def pets(names: list[Any], n_sequences: int = 8) -> tuple[pd.DataFrame, dict[str, pd.DataFrame]]:
    """Boxes of these classes in turn: `eager` takes each fifth for the next class, `shy` finds half."""
    random = np.random.default_rng(0)
    at = np.arange(n_sequences * 2 * 6)
    truth = pd.DataFrame({"sequence": at // 12 + 1, "frame": at // 6 % 2 + 1, "object": at % 6})
    truth = truth.assign(x=truth["object"] * 100.0, y=50.0, w=40.0, h=30.0)
    truth["category"] = [names[one % len(names)] for one in at]
    scored = truth.assign(score=random.uniform(size=len(at)).round(3))
    taken = [names[(one + (one % 5 == 0)) % len(names)] for one in at]
    false = scored.iloc[::7].assign(object=99, y=300.0)
    shy = pd.concat([scored.iloc[::2], scored.iloc[:1].assign(object=99, y=300.0)])
    return truth, {"eager": pd.concat([scored.assign(category=taken), false]), "shy": shy}


def many_poses(n_sequences: int) -> tuple[sf.Annotations, pd.DataFrame]:
    """The same as poses with a nose and two eyes, 10 px to its left and its right."""
    truth, predictions = many(n_sequences)
    places = {"nose": 0.0, "left_eye": -10.0, "right_eye": 10.0}

    def with_joints(side: pd.DataFrame) -> pd.DataFrame:
        joints = [side.assign(joint=joint, x=side["x"] + dx) for joint, dx in places.items()]
        return pd.concat(joints, ignore_index=True)

    return truth._replace(objects=with_joints(truth.objects).assign(area=900.0)), with_joints(predictions)


def png(width: int, height: int, deep: bool = False) -> bytes:
    """A grey picture, of eight or sixteen bits."""
    shades = np.add.outer(np.arange(height), np.arange(width)) * (100 if deep else 1)
    stream = io.BytesIO()
    Image.fromarray(shades.astype("u2" if deep else "u1")).save(stream, "PNG")
    return stream.getvalue()


def folder_of_pictures(folder: Path, n_frames: int = 5, content: bytes | None = None) -> Path:
    """A folder with the pictures of the first frames of sequence 1, all the same."""
    (folder / "1").mkdir(parents=True)
    for frame in range(1, n_frames + 1):
        (folder / "1" / f"{frame}.png").write_bytes(png(640, 480) if content is None else content)
    return folder
