"""A gallery of tiny named scenes, each with what has to come out of it by hand.

Rows are (sequence, frame, x, y); objects are numbered within their frame. `frames` lists frames as (sequence, frame)
where the truth's frames table is part of the scene. `outcomes` are the rows of the match table in order: outcome,
truth object, predicted object, squared_error and kelvins_error, with tau = 10 and epsilon = 3.
"""

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import spotgeo_frames as sf

Row = tuple[Any, int, float, float]
Outcome = tuple[str, int | None, int | None, float | None, float | None]
FAR = 100.0  # tau squared


class Scene(NamedTuple):
    name: str
    truth: list[Row]
    predictions: list[Row]
    outcomes: list[Outcome]
    frames: list[tuple[Any, int]] | None = None

    def sides(self) -> tuple[sf.Annotations, sf.Annotations]:
        frames = None if self.frames is None else pd.DataFrame(self.frames, columns=["sequence", "frame"])
        return sf.Annotations(objects(self.truth), frames), sf.Annotations(objects(self.predictions))


def objects(rows: list[Row], **columns: list[Any]) -> pd.DataFrame:
    """A table of objects, numbered within their frame in the order they are given."""
    table = pd.DataFrame(rows, columns=["sequence", "frame", "x", "y"])
    table.insert(2, "object", table.groupby(["sequence", "frame"]).cumcount().astype("int64"))
    types = {"x": "float64", "y": "float64"} | ({} if rows else {"sequence": "int64", "frame": "int64"})
    return table.astype(types).assign(**columns)


def squares(*rows: tuple[Any, ...], size: float = 10.0, **columns: Any) -> pd.DataFrame:
    """Boxes of one image, each by its left edge, its category and, if it is predicted, its score."""
    names = ["x", "category", "score"][: len(rows[0])] if rows else ["x", "category", "score"]
    table = pd.DataFrame(list(rows), columns=names).assign(sequence=1, frame=1, object=range(1, len(rows) + 1))
    return table.astype({"x": float}).assign(y=0.0, w=size, h=size, **columns)


def grid(random: np.random.Generator, n_frames: int, most: int, size: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Truth and predictions on a grid of whole pixels, where equal distances abound."""

    def side() -> pd.DataFrame:
        counts = random.integers(0, most + 1, n_frames)
        frame = np.repeat(np.arange(n_frames), counts)
        x, y = random.integers(0, size, (2, len(frame)))
        return objects([(int(f // 5), int(f % 5), float(a), float(b)) for f, a, b in zip(frame, x, y, strict=True)])

    return side(), side()


SCENES = [
    # The page's example has three truths and four predictions, TP 2, FP 2, FN 1 and SSE = 0 + d² + 3 tau².
    Scene(
        "the challenge's worked example",
        [(1, 1, 100, 100), (1, 1, 200, 200), (1, 1, 300, 300)],
        [(1, 1, 102, 100), (1, 1, 203, 204), (1, 1, 240, 200), (1, 1, 311, 300)],
        [
            ("TP", 0, 0, 0.0, 0.0),
            ("TP", 1, 1, 25.0, 5.0),
            ("FN", 2, None, FAR, FAR),
            ("FP", None, 2, FAR, FAR),
            ("FP", None, 3, FAR, FAR),
        ],
    ),
    Scene("nothing there, nothing claimed", [], [], [("empty", None, None, None, None)], frames=[(1, 1)]),
    Scene("all missed", [(1, 1, 5, 5), (1, 1, 9, 9)], [], [("FN", 0, None, FAR, FAR), ("FN", 1, None, FAR, FAR)]),
    Scene(
        "all false",
        [],
        [(1, 2, 5, 5)],
        [("empty", None, None, None, None), ("FP", None, 0, FAR, FAR)],
        frames=[(1, 1), (1, 2)],
    ),
    Scene("at the same place", [(1, 1, 7, 7)], [(1, 1, 7, 7)], [("TP", 0, 0, 0.0, 0.0)]),
    # The document counts epsilon as no error; the server as the plain distance, 3.
    Scene("exactly epsilon away", [(1, 1, 0, 0)], [(1, 1, 3, 0)], [("TP", 0, 0, 0.0, 3.0)]),
    # A hit for both; its error is tau² by the document and nothing by the server, which wants distance < tau.
    Scene("exactly tau away", [(1, 1, 0, 0)], [(1, 1, 6, 8)], [("TP", 0, 0, 100.0, 0.0)]),
    Scene(
        "just beyond tau",
        [(1, 1, 0, 0)],
        [(1, 1, float(np.nextafter(10, 11)), 0)],
        [("FN", 0, None, FAR, FAR), ("FP", None, 0, FAR, FAR)],
    ),
    # The nearest pair (0 and 0) would leave the others without partners; two pairs come before a short one.
    Scene(
        "more pairs come before nearer ones",
        [(1, 1, 0, 0), (1, 1, 9, 0)],
        [(1, 1, 1, 0), (1, 1, -9, 0)],
        [("TP", 0, 1, 81.0, 9.0), ("TP", 1, 0, 64.0, 8.0)],
    ),
    # Both ways have two pairs; the sum of distances decides (2 + 2 against 5 + 5).
    Scene(
        "the least sum of distances",
        [(1, 1, 0, 0), (1, 1, 7, 0)],
        [(1, 1, 5, 0), (1, 1, 2, 0)],
        [("TP", 0, 1, 0.0, 0.0), ("TP", 1, 0, 0.0, 0.0)],
    ),
    Scene(
        "one prediction between two truths",
        [(1, 1, 0, 0), (1, 1, 9, 0)],
        [(1, 1, 5, 0)],
        [("FN", 0, None, FAR, FAR), ("TP", 1, 0, 16.0, 4.0)],
    ),
    Scene(
        "two predictions on one truth",
        [(1, 1, 0, 0)],
        [(1, 1, 4, 0), (1, 1, 0, 2)],
        [("TP", 0, 1, 0.0, 0.0), ("FP", None, 0, FAR, FAR)],
    ),
    Scene(
        "the same place in another frame is no match",
        [(1, 1, 5, 5)],
        [(1, 2, 5, 5)],
        [("FN", 0, None, FAR, FAR), ("FP", None, 0, FAR, FAR)],
    ),
    Scene(
        "rows in no order, sequences as strings",
        [("b", 1, 1, 1), ("a", 2, 2, 2), ("b", 1, 50, 1), ("a", 1, 3, 3)],
        [("b", 1, 50, 1), ("a", 1, 3, 3), ("b", 1, 90, 90)],
        [
            ("TP", 0, 0, 0.0, 0.0),
            ("FN", 0, None, FAR, FAR),
            ("FN", 0, None, FAR, FAR),
            ("TP", 1, 0, 0.0, 0.0),
            ("FP", None, 1, FAR, FAR),
        ],
    ),
]


# Where the joints of a person are, from the nose (px).
JOINTS = {"nose": (0, 0), "left_shoulder": (-20, 30), "right_shoulder": (20, 30)}


def shaped(points: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Points as boxes of 40 x 30 px around them, turned by 90 degrees or not, or as people whose noses they are."""
    if kind in ("boxes", "tracks"):
        return points.assign(x=points["x"] - 20, y=points["y"] - 15, w=40.0, h=30.0)
    if kind == "oriented boxes":
        return points.rename(columns={"x": "cx", "y": "cy"}).assign(w=40.0, h=30.0, angle=90.0)
    if kind in ("poses", "joints"):
        joints = [
            points.assign(joint=joint, x=points["x"] + x, y=points["y"] + y, area=3000.0)
            for joint, (x, y) in JOINTS.items()
        ]
        return pd.concat(joints, ignore_index=True)
    return points
