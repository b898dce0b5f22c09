"""view_of(): packs match tables of one or several submissions into what the viewer shows.

Each truth is packed once, whatever submissions there are; with each submission come its predictions, and for each truth
the prediction that it is paired with.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ...geometries import BONES, geometry_of, pose_columns, pose_joints, with_places
from ...tables import check_coordinates, schema
from .masks import MOST_OF_PAGE, Masks, masks_of, packed_side
from .packing import Column, Text, column_of, packed_table, taken, used, valid_text
from .places import DIGITS, decimals, extents, rounded_in_bins, visible
from .rows import Frames, Rows, Submission, check_truths, frames_of, submissions_of, truths_of

# A column of the user's with more different texts is left out, since nobody looks at them one by one.
MOST_TEXTS = 5000

# Columns of match tables that the viewer's tables have under their own names. A column of the user's of such a name
# keeps its prefix.
NEAR = ("pair_object", "pair_distance", "pair_similarity")  # what explains an error, and how near it is
OF_PAIRS = ("kind", "event", "cause", "detected_as", *NEAR)
OF_PREDICTIONS = ("kind", "event", "cause", "ignored", "detection_of", *NEAR)
OF_ROWS = tuple(dict.fromkeys(OF_PAIRS + OF_PREDICTIONS))
RESERVED = {"joint", "pair", "measure", *OF_ROWS}

# Columns that no table of the viewer has: it has the counts and the order itself, and nobody reads run lengths.
UNSEEN = {schema.FILE_ORDER, "frame_n_truth", "frame_n_predicted"}
UNSEEN |= {f"{prefix}{name}" for prefix in schema.SIDE_PREFIXES for name in schema.TEXT_OF_GEOMETRIES}

# The column of frames that names their pictures, by which frames are called; it is shown however many names it has.
FILE_NAME = "frame_file_name"

# The columns of a sequence's area.
SIDES = ("left", "right", "top", "bottom")

Columns = Mapping[str, Column]
Digits = Mapping[str, int]


class View(NamedTuple):
    """What the viewer shows.

    Attributes
    ----------
    about
        What it is, and where which column lies in `content`; as JSON has it.
    content
        The arrays of all columns, one after another.
    left_out
        The columns of the match tables that cannot be shown.
    n_masked, n_boxed
        The counts of frames that have masks, and of those of them that have no room for the masks, but for the boxes
        around them.
    """

    about: dict[str, Any]
    content: bytes
    left_out: list[str]
    n_masked: int = 0
    n_boxed: int = 0


def view_of(
    matches: pd.DataFrame,
    measure: str,
    tau: float | None,
    sequences: Sequence[Any] | None = None,
    edges: Mapping[str, np.ndarray] | None = None,
    most_of_masks: int = MOST_OF_PAGE,
) -> View:
    """Packs the match tables of one or several submissions, one after another, into what the viewer shows.

    `matches` has a categorical column `submission`, and may have `kind`, `event`, `cause` and `ignored`. `measure` is
    the title of what pairs are measured by, such as "IoU", and `tau` the largest distance of a true positive (px), None
    after matching by similarity. `sequences` are all sequences in the order to show them, None for the order of their
    names. `edges` are those of bins in which numbers stay when they are rounded; see `rounded_in_bins`. The run lengths
    of all masks together have at most `most_of_masks` characters. A submission may lack frames. Raises InputError if
    coordinates are missing, or if truths of a frame differ.
    """
    check_coordinates(matches)
    matches = with_places(matches)
    frames = frames_of(matches, sequences)
    columns, left_out = _columns(matches)
    submissions = submissions_of(matches, frames, columns)
    truth = truths_of(submissions.values(), len(frames.first))
    check_truths(matches, columns, truth, submissions)
    areas = extents(matches, frames.sequence[frames.of_row], len(frames.sequences), tau or 0.0)
    digits = _digits(matches, visible(areas) if tau is None else tau)
    columns |= rounded_in_bins(columns, edges or {}, schema.measure_of(matches), digits)
    truths = _side(columns, truth.row, schema.SIDE_PREFIXES[0]) | _marks(columns, truth.row, ["ignored"])
    listed = [
        (schema.SIDE_PREFIXES[0], truth),
        *((schema.SIDE_PREFIXES[1], one.predicted) for one in submissions.values()),
    ]
    masks = masks_of(matches, frames, listed, most_of_masks)
    content = bytearray()
    tables = {
        "sequences": packed_table(
            _sequence_columns(frames, areas, columns), content, dict.fromkeys(SIDES, digits["x"])
        ),
        "frames": packed_table(_frame_columns(frames, truth, columns), content, digits),
        "truth": packed_table(truths, content, digits) | packed_side(masks, schema.SIDE_PREFIXES[0], truth, content),
        "submissions": [
            {"name": name}
            | _submission_tables(columns, truth, submission, masks, schema.measure_of(matches), content, digits)
            for name, submission in submissions.items()
        ],
    }
    about = _kind(matches, columns) | {
        "identities": "event" in matches,
        "measure": {"title": measure, "decimals": digits["measure"]} | _needed(matches),
        "decimals": digits["x"],
    }
    return View(about | tables, bytes(content), left_out, masks.n_frames, masks.n_boxed)


def _kind(matches: pd.DataFrame, columns: Columns) -> dict[str, Any]:
    """What the rows of match tables are; the joints, and the pairs of joints that bones connect."""
    joint = columns.get("joint")
    joints = joint.values if isinstance(joint, Text) else pose_joints(matches)
    geometries = [geometry_of(matches, prefix) for prefix in schema.SIDE_PREFIXES]
    drawn = {geometry.drawn_as for geometry in geometries}
    kind = "joints" if joint is not None else "poses" if joints else min(drawn)  # a box may be compared with a point
    bones = [[joints.index(one), joints.index(other)] for one, other in BONES if {one, other} <= {*joints}]
    turned = next((geometry for geometry in geometries if geometry.drawn_angle), None)
    told = {} if turned is None else {"angle": turned.drawn_angle, "columns": [*turned.columns]}
    filled = {"filled": True} if any(geometry.is_filled for geometry in geometries) else {}
    return {"kind": kind, "joints": joints, "bones": bones} | told | filled


def _digits(matches: pd.DataFrame, length: float) -> dict[str, int]:
    """To how many decimals coordinates and the measure are rounded, where `length` (px) can surely be seen."""
    n_decimals = decimals(length)
    coordinates = [*schema.BOX, *pose_columns(pose_joints(matches))]
    by_similarity = schema.measure_of(matches) == "similarity"
    of_measure = DIGITS if by_similarity else n_decimals
    return dict.fromkeys(coordinates, n_decimals) | dict.fromkeys(("measure", *NEAR[1:]), of_measure)


def _needed(matches: pd.DataFrame) -> dict[str, float]:
    """The least similarity of a true positive, or its largest distance, where the table says it."""
    name = "threshold" if schema.measure_of(matches) == "similarity" else "tau"
    return {"needed": float(matches.attrs[name])} if name in matches.attrs else {}


def _columns(matches: pd.DataFrame) -> tuple[dict[str, Column], list[str]]:
    """The columns that the viewer's tables are made of, by their name in the match tables; and the names of others."""
    columns: dict[str, Column] = {}
    left_out = []
    own = {
        "frame",
        "joint",
        schema.measure_of(matches),
        FILE_NAME,
        *OF_ROWS,
        *(f"{prefix}object" for prefix in schema.SIDE_PREFIXES),
    }
    prefixes = tuple(schema.PREFIXES.values())
    for name in map(str, matches):
        if name in UNSEEN or not (name in own or name.startswith(prefixes)):
            continue
        # Joints are text, whatever type their names have.
        column = column_of(matches[name].astype("category") if name == "joint" else matches[name])
        has_many = isinstance(column, Text) and len(column.values) > MOST_TEXTS and name not in own
        if column is None or has_many:
            left_out.append(name)
        else:
            columns[name] = column
    return columns, left_out


def _side(columns: Columns, rows: np.ndarray, prefix: str) -> dict[str, Column]:
    """The columns of truths or predictions: names, geometry and score first, then the user's."""
    named = {name.removeprefix(prefix): name for name in columns if name.startswith(prefix)}
    chosen = {name: named.pop(name) for name in ("object", *schema.BOX, "score", "category") if name in named}
    chosen |= {"joint": "joint"} if "joint" in columns else {}
    chosen |= {f"{prefix}{name}" if name in RESERVED else name: column for name, column in named.items()}
    return {name: taken(columns[column], rows) for name, column in chosen.items()}


def _marks(columns: Columns, rows: np.ndarray, names: Sequence[str]) -> dict[str, Column]:
    """Those of these columns that there are, with values other than null and False."""
    found = {name: taken(columns[name], rows) for name in names if name in columns}
    return {
        name: column
        for name, column in found.items()
        if ({*used(column).values} - {"False"} if isinstance(column, Text) else not np.isnan(column).all())
    }


def _sequence_columns(frames: Frames, areas: np.ndarray, columns: Columns) -> dict[str, Column]:
    """The names, the areas and the user's columns of sequences."""
    n_sequences = len(frames.sequences)
    row = np.full(n_sequences, -1)
    row[frames.sequence[::-1]] = frames.first[::-1]  # the last to be written is that of the first frame
    names = Text(np.arange(n_sequences), [valid_text(str(name)) for name in frames.sequences])
    sides = dict(zip(SIDES, areas.T, strict=True))
    return {"name": names} | sides | _carried(columns, row, schema.PREFIXES["sequences"])


def _frame_columns(frames: Frames, truth: Rows, columns: Columns) -> dict[str, Column]:
    """The sequences, the numbers, the counts of truths and the user's columns of frames."""
    return {
        "sequence": frames.sequence.astype(np.float64),
        "frame": taken(columns["frame"], frames.first),
        "n_truth": np.bincount(truth.frame, minlength=len(frames.first)).astype(np.float64),
    } | _carried(columns, frames.first, schema.PREFIXES["frames"])


def _carried(columns: Columns, rows: np.ndarray, prefix: str) -> dict[str, Column]:
    """The user's columns of sequences or of frames, which keep their prefix."""
    return {name: taken(column, rows) for name, column in columns.items() if name.startswith(prefix)}


def _submission_tables(
    columns: Columns,
    truth: Rows,
    submission: Submission,
    masks: Masks,
    measure: str,
    content: bytearray,
    digits: Digits,
) -> dict[str, Any]:
    """The tables of a submission: each frame's count of predictions, the predictions, and the pair of each truth."""
    predicted, has_frame = submission.predicted, submission.has_frame
    counts = np.bincount(predicted.frame, minlength=len(has_frame))
    mine = np.full(len(truth.row), -1)  # the submission's own row of each truth
    mine[has_frame[truth.frame]] = submission.truth.row
    in_frame = np.arange(len(predicted.row)) - (np.cumsum(counts) - counts)[predicted.frame]
    place = np.full(max(mine.max(initial=-1), predicted.row.max(initial=-1)) + 2, -1)  # the row -1 is the last
    place[predicted.row] = in_frame
    pairs: dict[str, Column] = {"pair": place[mine].astype(np.float64)}
    if measure in columns:
        pairs["measure"] = taken(columns[measure], mine)
    predictions = _side(columns, predicted.row, schema.SIDE_PREFIXES[1]) | _marks(
        columns, predicted.row, OF_PREDICTIONS
    )
    return {
        "frames": packed_table({"n_predicted": np.where(has_frame, counts, -1.0)}, content, digits),
        "predicted": packed_table(predictions, content, digits)
        | packed_side(masks, schema.SIDE_PREFIXES[1], predicted, content),
        "pairs": packed_table(pairs | _marks(columns, mine, OF_PAIRS), content, digits),
    }
