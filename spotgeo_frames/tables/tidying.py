"""tidy(): tables in other words as tables of this package, by the names that the caller gives or that are usual."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, get_args

import numpy as np
import pandas as pd

from ..support import InputError, arrays, pandas_tables
from .arrow import as_pandas
from .lists_of_numbers import as_columns, as_matrix, holds_dicts, holds_lists
from .masks_in_cells import with_masks
from .messages import listed, missing
from .other_words import (
    LIST_FORMATS,
    LISTS,
    BoxFormat,
    found_geometry,
    geometry_groups,
    in_other_words,
    plain,
    sky_names,
)
from .schema import BOX, geometry_name
from .table import Table
from .table_kinds import same_kind_as

# How many numbers each has: those that upright boxes have, an angle more, or four corners.
N_NUMBERS: dict[str, int] = {"xywh": 4, "xyxy": 4, "cxcywh": 4, "cxcywha": 5, "corners": 8}

# The columns of oriented boxes: middle and size (px), and the angle from the x axis towards the y axis, degrees.
TURNED = ["cx", "cy", "w", "h", "angle"]

# The columns that are looked for under their usual names, where the caller does not name them: in any table, and in
# tables of objects, which say where something is.
OF_ANY, OF_OBJECTS = ("sequence", "frame"), ("object", "joint", "score", "category", "crowd", "visibility")

# Columns that say where something is, besides those that are looked for.
PLACES = {"x", "y", "ra", "dec", "cx", "cy", "mask"}

# COCO's joints, in the order in which its files list them.
COCO_JOINTS = ["nose", "left_eye", "right_eye", "left_ear", "right_ear"]
COCO_JOINTS += [
    f"{side}_{joint}" for joint in ("shoulder", "elbow", "wrist", "hip", "knee", "ankle") for side in ("left", "right")
]


@same_kind_as("table")
def tidy(
    table: Table,
    *,
    sequence: str | None = None,
    frame: str | None = None,
    object: str | None = None,
    joint: str | None = None,
    x: str | None = None,
    y: str | None = None,
    w: str | None = None,
    h: str | None = None,
    z: str | None = None,
    ra: str | None = None,
    dec: str | None = None,
    box: str | Sequence[str] | None = None,
    box_format: BoxFormat | None = None,
    size: tuple[float, float] | tuple[str, str] | None = None,
    keypoints: str | None = None,
    joints: Sequence[Any] | None = None,
    mask: str | None = None,
    score: str | None = None,
    category: str | None = None,
    area: str | None = None,
    crowd: str | None = None,
    ignore: str | None = None,
    visibility: str | None = None,
) -> pd.DataFrame:
    """Turns a table in other words into one that all functions here take: other names, other boxes, lists in columns.

    Columns that you do not name, and that are not there, are looked for under their usual names (`image_id`, `label`,
    `confidence`, `xmin` ...), and one printed line says which were taken. So `tidy(table)` is often enough. Only
    `sequence` and `frame` are looked for in tables that do not say where objects are, as those of frames.

    Parameters
    ----------
    table
        A table of objects, of frames, of sequences (of pandas, polars or pyarrow, or what exports an Arrow stream).
    sequence, frame, object, joint, x, y, w, h, z, ra, dec, score, category, area, crowd, ignore, visibility
        The name that this column has in the table.
    box
        Where the boxes are: the names of the columns of their numbers, in the order that `box_format` has them, or the
        name of one column of lists, or of dicts or structs whose keys have such names. They are replaced by `x`, `y`
        (the top left corner), `w` and `h`, in their units; boxes with an angle by `cx`, `cy`, `w`, `h` and `angle`.
    box_format
        "xywh": left, top, width, height; "xyxy": left, top, right, bottom, where width is right - left; "cxcywh": the
        centre, then width and height; "cxcywha": the same and an angle in degrees, from the x axis towards the y axis;
        "corners": x and y of the four corners of a rectangle, one after the other around it. By default what the names
        of the columns tell, and "xywh" for columns that you name.
    size
        The width and height of the images in pixels, two numbers or the names of two columns: coordinates are then
        shares of these, and become pixels, those of `keypoints`, too. Named columns stay.
    keypoints
        The name of a column of lists of 3K numbers: x, y and visibility of each joint, as in COCO's files. The table
        becomes one of joints, K rows for each of its rows, with new columns `joint`, `x`, `y` and `visibility`; boxes
        become `box_x`, `box_y`, `box_w` and `box_h`.
    joints
        The K names of the joints; by default COCO's where K is 17, and otherwise 0 to K - 1.
    mask
        The name of a column of masks: COCO's polygons or dicts of run lengths, or compressed run lengths as text. It is
        replaced by `mask`, `mask_h` and `mask_w`. Polygons and text need the `size` of their images. Boxes are then
        dropped, because a table has one geometry.

    Returns
    -------
    DataFrame of the table's kind (polars or pyarrow; otherwise pandas), with the columns in their order: renamed or
    replaced as said, and all others as they are. Its values are not checked; the function that takes it checks them.

    Raises
    ------
    InputError: a column is missing, is named twice, has no numbers where `box`, `size` or `keypoints` names it, or a
        new name belongs to another column already; two columns may be the one that is looked for; boxes in lists have
        no format that their name tells; corners are those of no rectangle.
    ValueError: `box_format` is something else, or `box`, `size` or `joints` does not fit it.

    Examples
    --------
    >>> import pandas as pd
    >>> import spotgeo_frames as sf
    >>> boxes = pd.DataFrame({"video": ["a"], "image_id": [7], "object": [1], "label": ["car"],
    ...                       "xmin": [10.0], "ymin": [20.0], "xmax": [40.0], "ymax": [25.0]})
    >>> sf.tidy(boxes, sequence="video", frame="image_id", category="label",
    ...         box=["xmin", "ymin", "xmax", "ymax"], box_format="xyxy")
      sequence  frame  object category     x     y     w    h
    0        a      7       1      car  10.0  20.0  30.0  5.0
    >>> tidied = sf.tidy(boxes)
    tidy took sequence from video, frame from image_id, category from label, box (xyxy) from xmin, ymin, xmax, ymax
    """
    given = as_pandas(table, "tidy: table")
    named = {
        **{"sequence": sequence, "frame": frame, "object": object, "joint": joint},
        **{"x": x, "y": y, "w": w, "h": h, "z": z, "ra": ra, "dec": dec},
        **{"score": score, "category": category, "area": area, "crowd": crowd, "ignore": ignore},
        "visibility": visibility,
    }
    names = {column: name for column, name in named.items() if name is not None}
    _check_arguments(names, box, box_format, size, keypoints, joints)
    sizes = [] if size is None else [of for of in size if isinstance(of, str)]
    claimed = {*names.values(), *_listed(box), *sizes, *(name for name in (keypoints, mask) if name)}
    is_said = names.keys() & {*BOX, "ra"} or keypoints or mask or box is not None
    taken = None if is_said else _found_box(given, claimed, box_format)
    numbers, form, places = taken or (_listed(box), box_format or "xywh", {})
    of_objects = bool(numbers or places or keypoints or mask or names.keys() & PLACES or {*given.columns} & PLACES)
    of_objects |= geometry_name(given.columns) is not None
    is_elsewhere = numbers or places or keypoints or mask or {"x", "y", "cx"} & {*given.columns, *names}
    in_sky = not is_elsewhere and bool(sky_names([*map(str, given.columns)]))
    of_objects |= in_sky
    looked_for = (*OF_ANY, *(("ra", "dec") if in_sky else ()), *(OF_OBJECTS if of_objects else ()))
    found = _found_names(given, names, claimed | {*numbers, *places.values()}, looked_for) | places
    _check_names(given, names | found, [*numbers, *sizes], form if numbers else None, keypoints)
    renamed = given.rename(columns={name: column for column, name in (names | found).items()})
    # What was exploded, or came out of dicts, holds numbers as objects.
    objects = [name for name in (*BOX, "frame", "score", "area") if name in renamed and renamed[name].dtype == "object"]
    tidied = renamed.assign(**{name: renamed[name].infer_objects() for name in objects})
    if numbers:
        tidied = _with_boxes(given, tidied, numbers, form)
    if mask is not None:
        tidied = with_masks(given, tidied, mask, size)
    elif size is not None:
        tidied = _in_pixels(given, tidied, size, keypoints)
    if keypoints is not None:
        tidied = _by_joint(given, tidied, keypoints, joints, size)
    _tell(found, numbers if claimed.isdisjoint(numbers) else [], form)
    return tidied


def _listed(box: Any) -> list[str]:
    """The columns of the boxes that the caller names."""
    return [] if box is None else [box] if isinstance(box, str) else list(box)


def _check_arguments(
    names: Mapping[str, Any], box: Any, box_format: Any, size: Any, keypoints: Any, joints: Any
) -> None:
    """Raises ValueError if an argument is of another form than is needed, or does not go with another."""
    odd = [f"{column}={name!r}" for column, name in names.items() if not isinstance(name, str)]
    odd += [f"keypoints={keypoints!r}"] if not isinstance(keypoints, str | None) else []
    if odd:
        raise ValueError(f"tidy: {odd[0]}; the name of a column is needed")
    if box_format is not None and box_format not in get_args(BoxFormat):
        known = ", ".join(map(repr, get_args(BoxFormat)))
        raise ValueError(f"tidy: box_format is {box_format!r}; one of {known} is needed")
    n = N_NUMBERS[box_format or "xywh"]
    is_list = isinstance(box, Sequence) and not isinstance(box, str) and all(isinstance(of, str) for of in box)
    if not (box is None or isinstance(box, str) or (is_list and len(box) in (1, n))):
        raise ValueError(f"tidy: box is {box!r}; the names of {n} columns, or of one column of lists, are needed")
    both = [column for column in BOX if column in names]
    if both and (box is not None or box_format is not None):
        argument = "box" if box is not None else "box_format"
        raise ValueError(f"tidy: {listed(both)} and {argument} both say where objects are; give one of them")
    is_pair = isinstance(size, tuple | list | np.ndarray) and len(size) == 2
    if size is not None and not (is_pair and all(isinstance(of, str) or (_is_number(of) and of > 0) for of in size)):
        problem = "the width and height of images, or two names of columns, are needed"
        raise ValueError(f"tidy: size is {size!r}; {problem}")
    if joints is not None and (isinstance(joints, str) or not isinstance(joints, Sequence)):
        raise ValueError(f"tidy: joints is {joints!r}; a list of names is needed")
    if joints is not None and len(set(joints)) < len(joints):
        raise ValueError(f"tidy: joints names a joint twice: {listed(joints)}")


def _is_number(value: Any) -> bool:
    """Whether a value is a finite number."""
    return isinstance(value, Real) and not isinstance(value, bool) and bool(np.isfinite(float(value)))


def _found_names(
    given: pd.DataFrame, names: Mapping[str, str], claimed: set[str], looked_for: Sequence[str]
) -> dict[str, str]:
    """The columns that are neither named nor there, by the usual names that they have.

    Raises InputError if there are two for one.
    """
    found, problems = dict[str, str](), []
    for column in looked_for:
        if column in names or column in given:
            continue
        candidates = [name for name in in_other_words(column, given.columns) if name not in claimed]
        if column == "joint":  # a column of that name may hold the lists of all joints
            candidates = [name for name in candidates if not holds_lists(given[name])]
        if len(candidates) > 1:
            problems.append(f"tidy: table: columns {' and '.join(candidates)} may both be {column}; give {column}=")
        elif candidates:
            found[column] = candidates[0]
    if problems:
        raise InputError(problems)
    return found


def _found_box(
    given: pd.DataFrame, claimed: set[str], box_format: BoxFormat | None
) -> tuple[list[str], BoxFormat, dict[str, str]] | None:
    """The columns of boxes under their usual names with their format, and those of points; None where all is said.

    A format that is given goes before that of the names. Raises InputError if lists of boxes have no format that is
    given or that their name tells, or if two groups of columns may say where objects are.
    """
    left = [str(name) for name in given.columns if name not in claimed]
    if {*BOX} <= {*left} and box_format not in (None, "xywh"):
        return list(BOX), box_format or "xywh", {}
    if geometry_name(given.columns) or {*TURNED} <= {*given.columns}:
        return None
    groups = geometry_groups(left)
    if len(groups) > 1:
        which = " or ".join(listed(group) for group in groups)
        raise InputError(f"tidy: table: {which} may say where objects are; give box=, or x= and y=")
    box, form, places = found_geometry(left)
    if box or places or {"x", "y"} <= {*given.columns}:
        return (box, box_format or form, {}) if box else ([], "xywh", places)
    lists = [name for name in left if plain(name) in LISTS and (holds_lists(given[name]) or holds_dicts(given[name]))]
    if len(lists) > 1:
        raise InputError(f"tidy: table: columns {' and '.join(lists)} may both hold the boxes; give box=")
    if not lists:
        if box_format is not None:
            raise InputError(f"tidy: table: nothing in it is a box that box_format={box_format!r} tells of; give box=")
        return None
    told = box_format or LIST_FORMATS.get(plain(lists[0])) or ("xywh" if holds_dicts(given[lists[0]]) else None)
    if told is None:
        how = f'give box="{lists[0]}" and box_format="xywh" (as in COCO\'s files) or "xyxy" (as in torchvision)'
        raise InputError(f"tidy: table: column {lists[0]} holds boxes, and its name does not tell how; {how}")
    return lists, told, {}


def _check_names(
    given: pd.DataFrame, names: Mapping[str, Any], numbers: Sequence[str], form: str | None, keypoints: str | None
) -> None:
    """Raises InputError if a column is missing or named twice, or if a new name belongs to another column already.

    `numbers` are the columns of boxes and of sizes, and `form` is the format of the boxes, None without any.
    """
    wanted = [
        *((name, f"to be {column}") for column, name in names.items()),
        *((name, "part of box= or size=") for name in numbers),
    ]
    wanted += [] if keypoints is None else [(keypoints, "keypoints=")]
    taken = [name for name, _ in wanted]
    problems = [
        missing("tidy: table", name, given.columns, f"it is {part}; there are {listed(given.columns)}")
        for name, part in wanted
        if name not in given
    ]
    twice = sorted({str(name) for name in taken if taken.count(name) > 1})
    problems += [f"tidy: table: column {name} is named more than once; give each column one meaning" for name in twice]
    problems += [
        f"tidy: table: column {name} is to be {column}, and there is a column {column} already; drop or rename that one"
        for column, name in names.items()
        if column != name and name in given and column in given and column not in taken
    ]
    made = [] if form is None else TURNED if form in ("cxcywha", "corners") else BOX
    made = [*made, *(["joint", "visibility"] if keypoints else [])]
    made += [f"box_{column}" for column in BOX] if keypoints and form else []
    problems += [
        f"tidy: table: it gets a column {column}, and there is one already; drop or rename that one"
        for column in made
        if column in given and column not in taken
    ]
    if problems:
        raise InputError(problems)


def _tell(found: Mapping[str, str], box: Sequence[str], box_format: str) -> None:
    """Prints in one line which columns were taken without having been named."""
    taken = [f"{column} from {name}" for column, name in found.items()]
    taken += [f"box ({box_format}) from {listed(box)}"] if box else []
    if taken:
        text = f"tidy took {', '.join(taken)}"
        print(text if text.isprintable() else repr(text))


def _with_boxes(
    given: pd.DataFrame, renamed: pd.DataFrame, numbers: Sequence[str], box_format: BoxFormat
) -> pd.DataFrame:
    """The table with the columns of boxes in place of the first that had their numbers."""
    if len(numbers) == 1 and holds_dicts(given[numbers[0]]):
        columns, box_format = _of_dicts(given, numbers[0], box_format)
    elif len(numbers) == 1:
        columns = list(as_matrix(given, numbers[0], [N_NUMBERS[box_format]]).T)
    else:
        columns = [_as_numbers(given, name) for name in numbers]
    made = _boxes(columns, box_format)
    if len(numbers) == len(made):  # each number keeps its place
        places = dict(zip(numbers, made, strict=True))
        order = [places.get(str(name), name) for name in renamed.columns]
        return renamed.drop(columns=[*numbers]).assign(**made)[order]
    place = min(list(renamed.columns).index(name) for name in numbers)
    others = [name for name in renamed.columns if name not in numbers]
    order = [*others[:place], *made, *others[place:]]
    return renamed.drop(columns=[*numbers]).assign(**made)[order]


def _of_dicts(given: pd.DataFrame, column: str, said: BoxFormat) -> tuple[Sequence[Any], BoxFormat]:
    """The numbers of a column of dicts with their format, which the keys tell; x, y, w and h may be of the one `said`.

    Raises InputError if they are no boxes.
    """
    parts = as_columns(given, column)
    keys = [str(name) for name in parts]
    found, form, _ = (list(BOX), "xywh", {}) if {*BOX} <= {*keys} else found_geometry(keys)
    if not found:
        raise InputError(f"tidy: table: column {column} holds dicts of {listed(parts)}, which are no boxes")
    is_said = form == "xywh" and N_NUMBERS[said] == len(found)
    return [_as_numbers(parts, name) for name in found], said if is_said else form


def _as_numbers(given: pd.DataFrame, column: str) -> pd.Series:
    """A column; raises InputError if it holds no numbers."""
    values = given[column]
    if not pd.api.types.is_any_real_numeric_dtype(values.dtype):
        raise InputError(f"tidy: table: column {column} is of type {values.dtype}; numbers are needed")
    return values if values.dtype == np.float64 else values.astype("float64")  # small integers would overflow


def _boxes(columns: Sequence[Any], box_format: str) -> dict[str, Any]:
    """x, y, w and h of boxes in another format, or the columns of oriented boxes."""
    if box_format == "corners":
        return _of_corners([np.asarray(column, np.float64) for column in columns])
    if box_format == "cxcywha":
        return dict(zip(TURNED, columns, strict=True))
    first, second, third, fourth = columns
    if box_format == "xyxy":
        third, fourth = third - first, fourth - second
    if box_format == "cxcywh":
        first, second = first - third / 2, second - fourth / 2
    return dict(zip(BOX, (first, second, third, fourth), strict=True))


def _of_corners(numbers: Sequence[np.ndarray]) -> dict[str, np.ndarray]:
    """Oriented boxes of their four corners, which files round to pixels.

    Raises InputError if some are no rectangles.
    """
    corners = np.stack(numbers, axis=1).reshape(-1, 4, 2)
    sides = np.roll(corners, -1, axis=1) - corners
    across, down = (sides[:, 0] - sides[:, 2]) / 2, (sides[:, 1] - sides[:, 3]) / 2
    width, height = (np.sqrt((side * side).sum(axis=1)) for side in (across, down))
    # Twice what rounding each corner to pixels may change.
    odd = np.abs(corners[:, 0] + corners[:, 2] - corners[:, 1] - corners[:, 3]).max(axis=1, initial=0) > 4
    odd |= np.abs((across * down).sum(axis=1)) > 4 * np.maximum(width + height, 1)
    if odd.any():
        row = int(np.argmax(odd))
        shown = corners[row].tolist()
        which = f"{int(odd.sum()):,} rows have" if odd.sum() > 1 else "1 row has"
        raise InputError(f"tidy: table: {which} corners of no rectangle; row {row} first: {shown}")
    cx, cy = corners.mean(axis=1).T
    angle = arrays.direction(across[:, 1], across[:, 0])
    return dict(zip(TURNED, (cx, cy, width, height, angle), strict=True))


def _in_pixels(given: pd.DataFrame, tidied: pd.DataFrame, size: Any, keypoints: str | None) -> pd.DataFrame:
    """The table with coordinates in pixels that were shares of the images' width and height."""
    if "angle" in tidied:
        raise ValueError("tidy: size does not go with boxes that are turned, whose angle it would change")
    columns = [name for name in BOX if name in tidied]
    if not columns and keypoints is None:
        raise InputError(
            "tidy: table: size belongs to coordinates, and there are none; name them with box= or x= and y="
        )
    factors = dict(zip(BOX, _sizes(given, size) * 2, strict=True))
    return tidied.assign(**{name: _as_numbers(tidied, name) * factors[name] for name in columns})


def _sizes(given: pd.DataFrame, size: Any) -> tuple[Any, Any]:
    """The width and height of each row's image, px, or of all."""
    width, height = (_as_numbers(given, of) if isinstance(of, str) else float(of) for of in size)
    return width, height


def _by_joint(
    given: pd.DataFrame, tidied: pd.DataFrame, keypoints: str, joints: Sequence[Any] | None, size: Any
) -> pd.DataFrame:
    """The table with a row for each joint of its lists of keypoints, which are shares of images with a `size`."""
    numbers = as_matrix(given, keypoints)
    n_joints, rest = divmod(numbers.shape[1], 3)
    if rest or (len(given) and not n_joints):
        problem = f"lists of {numbers.shape[1]} numbers, which are no x, y and visibility of joints"
        raise InputError(f"tidy: table: column {keypoints} has {problem}")
    named = joints if joints is not None else COCO_JOINTS if n_joints == len(COCO_JOINTS) else range(n_joints)
    if len(named) != n_joints and len(given):
        raise ValueError(f"tidy: joints has {len(named)} names, and column {keypoints} has {n_joints} joints")
    boxes = {name: f"box_{name}" for name in BOX if name in tidied}
    rows = tidied.drop(columns=keypoints).rename(columns=boxes)
    rows = rows.take(np.repeat(np.arange(len(rows)), n_joints)).reset_index(drop=True)
    x, y, visibility = numbers.reshape(-1, 3).T
    if size is not None:
        x, y = (
            values * np.repeat(of, n_joints) if isinstance(of, pd.Series) else values * of
            for values, of in zip((x, y), _sizes(given, size), strict=True)
        )
    names = pd.Series(list(named), dtype=pandas_tables.TEXT if all(isinstance(of, str) for of in named) else None)
    columns = {"joint": names.take(np.tile(np.arange(n_joints), len(given))).array}
    return rows.assign(**columns, x=np.asarray(x).copy(), y=np.asarray(y).copy(), visibility=visibility.copy())
