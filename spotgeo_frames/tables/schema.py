"""The columns of each table.

Objects (truth and predictions alike)
    `sequence` (int64 or string), `frame` (int64), `object` (int64 or string; a table without one gets the position of
    each row within its frame), `joint` (int64 or string) for keypoints, and `x`, `y` (float64, pixels). Boxes have `w`,
    `h` (float64, pixels), too. Optional: `score`, `category`, `crowd` (true for a truth that stands for many objects),
    `ignore` (true for a truth that is neither found nor missed), and for keypoints `visibility`, which is 0 for a joint
    that is listed although it is absent. Any other column is carried along.
    No two rows share a key, the key has no nulls, and coordinates and sizes are finite and at most LARGEST_COORDINATE.
    File order is row order within a (sequence, frame).

Frames
    `sequence`, `frame` and any attributes of a frame, one row a frame. List a frame here to count it even when it is
    empty.

Sequences
    `sequence` and any attributes of a sequence, one row a sequence.

Match table
    `sequence`, `frame`, (`joint`,) `outcome` (TP, FN, FP or `empty`), `distance` (px) or `similarity` of a TP,
    `squared_error` (px²), `kelvins_error`, `category` where both sides have one, then the columns of the truth
    (`truth_*`), of the prediction (`predicted_*`), of the frame (`frame_*`) and of the sequence (`sequence_*`).
"""

from collections.abc import Container, Hashable
from typing import Any

from ..support import InputError

FRAME_KEY = ["sequence", "frame"]

# The key of an object; its joints share it.
OBJECT_KEY = [*FRAME_KEY, "object"]

# What a match table calls columns of frames itself, so that a table of frames may not.
TAKEN_OF_FRAMES = ("n_truth", "n_predicted", "joint")

# The columns of a box: left, top, width and height, px.
BOX = ["x", "y", "w", "h"]

# The columns by which a table shows its geometry, by the geometry's name: the package's own but for points and boxes,
# then those that a person registered.
BUILT_IN_COLUMNS = {
    "space": ("x", "y", "z"),
    "sky": ("ra", "dec"),
    "oriented boxes": ("cx", "cy", "w", "h", "angle"),
    "masks": ("mask", "mask_h", "mask_w"),
}
GEOMETRY_COLUMNS: dict[str, tuple[str, ...]] = dict(BUILT_IN_COLUMNS)

# Columns that a table of such a geometry does not have: places in an image may carry their place in the sky.
NOT_BESIDE = {"space": ("w", "h"), "sky": ("x", "y")}

# Columns of geometries that are text, and no numbers.
TEXT_OF_GEOMETRIES = {"mask"}

# The largest sizes of coordinates that have ranges of their own, by the geometry's name, with the unit.
MOST_TURNED = 1e9, "degrees"  # farther around, float64 no longer tells angles apart
RANGES = {"sky": {"ra": MOST_TURNED, "dec": (90.0, "degrees")}, "oriented boxes": {"angle": MOST_TURNED}}

OUTCOMES = ["TP", "FN", "FP", "empty"]
TP, FN, FP, EMPTY = range(len(OUTCOMES))

# The prefixes of the columns that a match table carries from each table.
PREFIXES = {"truth": "truth_", "predictions": "predicted_", "frames": "frame_", "sequences": "sequence_"}

# That of the attributes of categories, in tables with a row a category.
CATEGORY_PREFIX = "category_"

# Those of the truth and of the predictions.
SIDE_PREFIXES = PREFIXES["truth"], PREFIXES["predictions"]

# What the columns of a match table begin with that say which slice of tracks by condition a row is of. A prediction
# that no truth took is in several slices.
OF_SLICE = "by_"

# The column of a match table with the prediction's position in its frame, in file order. It keeps the order in which
# the predictions came, which decides ties, since the rows of the table are in the order of truths.
FILE_ORDER = "predicted_file_order"
MATCH_COLUMNS = ["sequence", "frame", "outcome", "squared_error", "kelvins_error"]

# The columns that have a meaning of their own in tables of objects and, with a prefix, in match tables.
OBJECT_COLUMNS = [*FRAME_KEY, "object", "joint", *BOX, "score", "category", "area", "crowd", "ignore", "visibility"]

# The note of a table of objects that had no column `object`: its rows were numbered, so they follow no object.
NUMBERED = "rows_numbered"

# Those that name rows and classes: 007 is a name there and no number, so it stays text.
NAMING_COLUMNS = ("sequence", "object", "joint", "category")

OWN_COLUMNS = {
    *OBJECT_COLUMNS,
    *MATCH_COLUMNS,
    *(f"{PREFIXES[side]}{column}" for side in ("truth", "predictions") for column in OBJECT_COLUMNS),
    *("distance", "similarity", FILE_ORDER, "frame_n_truth", "frame_n_predicted"),
}

# Notes of a match table that are counts; those of tables that share no sequence add up.
COUNTS_NOTED = (
    *("crowds", "explained", "ignored", "beyond_max_detections", "unverified", "unlabelled", "near_no_truth"),
)

# Notes of average precision that say, beside the rule, what its numbers are means over and which detections count.
PRECISION_NOTED = ("protocol", "thresholds", "max_detections", "fields")

# The note of tracks that says which condition alone was evaluated.
WHERE = "where"

# Larger integers are not exact as float64, which is the type of carried numbers in a match table.
LARGEST_EXACT_INTEGER = 1 << 53

# Coordinates, sizes and distances beyond this (px) are refused: the squares of their differences, added up over a
# billion rows, would leave float64. Areas (px²) may be up to its square.
LARGEST_COORDINATE = 1e149


def coordinates_of(columns: Container[Hashable]) -> list[str]:
    """The columns of coordinates that a table with these columns has or lacks: the numbers of its geometry.

    Raises InputError as `geometry_name` does.
    """
    name = geometry_name(columns)
    if name is not None:
        return [column for column in GEOMETRY_COLUMNS[name] if column not in TEXT_OF_GEOMETRIES]
    return BOX if "w" in columns and "h" in columns else BOX[:2]


def ranges_of(columns: Container[Hashable]) -> dict[str, tuple[float, str]]:
    """The largest sizes of the coordinates of a table with these columns that have ranges of their own, with the unit.

    Raises InputError as `geometry_name` does.
    """
    return RANGES.get(geometry_name(columns) or "", {})


def geometry_name(columns: Container[Hashable], prefix: str = "") -> str | None:
    """The name of the geometry that a table with these columns shows; None for points and boxes, and for joints.

    It is the one with the most columns; one that a person registered goes before the package's own. `prefix` is that of
    a match table's columns. Raises InputError where two geometries have equally many of them.
    """
    if "joint" in columns:
        return None
    found = [name for name in GEOMETRY_COLUMNS if _shows(name, columns, prefix)]
    if not found:
        return None
    found = [name for name in found if name not in BUILT_IN_COLUMNS] or found
    most = max(len(GEOMETRY_COLUMNS[name]) for name in found)
    widest = [name for name in found if len(GEOMETRY_COLUMNS[name]) == most]
    if len(widest) > 1:
        raise InputError(f"a table has the columns of two geometries, {' and '.join(widest)}; drop those of one")
    return widest[0]


def _shows(name: str, columns: Container[Hashable], prefix: str) -> bool:
    """Whether a table with these columns has all of this geometry, and none that it does not have."""
    own = GEOMETRY_COLUMNS[name]
    # Each batch of a training loop asks this. Most tables lack the last column, and generators would take longer.
    if f"{prefix}{own[-1]}" not in columns:
        return False
    return all(f"{prefix}{column}" in columns for column in own) and not any(
        f"{prefix}{column}" in columns for column in NOT_BESIDE.get(name, ())
    )


def frame_columns(table: Any) -> list[str]:
    """The columns that name a frame, or the frame of one joint where there are joints."""
    return [column for column in (*FRAME_KEY, "joint") if column in table]


def slice_columns(table: Any) -> list[str]:
    """The columns of a match table, of any kind, that say which slice of tracks by condition a row is of."""
    names = getattr(table, "column_names", None) or table.columns
    starts = tuple(f"{OF_SLICE}{PREFIXES[of]}" for of in ("truth", "frames", "sequences"))
    return [name for name in map(str, names) if name.startswith(starts)]


def measure_of(matches: Any) -> str:
    """The column of a match table that has the measure of its pairs: "distance" or "similarity"."""
    return "similarity" if "similarity" in matches and "distance" not in matches else "distance"


def is_of_precision(matches: Container[Hashable]) -> bool:
    """Whether a table with these columns is a match table of `average_precision`."""
    return "threshold" in matches and "ignored" in matches
