"""tidy(): tables in other words as tables of this package, by the names that the caller gives or that are usual."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, get_args

import numpy as np
import pandas as pd

from ..support import InputError
from .arrow import as_pandas
from .box_forms import N_NUMBERS, TURNED, are_shares, in_pixels, with_boxes
from .keypoints_in_cells import by_joint
from .lists_of_numbers import holds_dicts, holds_lists
from .masks_in_cells import with_masks
from .messages import listed, missing
from .other_words import angle_of, found_geometry, geometry_groups, in_other_words, maybe_places, sky_names
from .schema import BOX, geometry_name
from .spellings import JOINTS, LIST_FORMATS, LISTS, MASKS, NAMES_OF_IMAGES, RADIANS, BoxFormat, plain
from .table import Table
from .table_kinds import CALLER, same_kind_as

# The columns that are looked for under their usual names, where the caller does not name them: in any table, and in
# tables of objects, which say where something is.
OF_ANY, OF_OBJECTS = ("sequence", "frame"), ("object", "joint", "score", "category", "crowd", "visibility")

# Columns that say where something is, besides those that are looked for.
PLACES = {"x", "y", "ra", "dec", "cx", "cy", "mask"}


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
    joints: Sequence[int] | Sequence[str] | None = None,
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
    `sequence` and `frame` are looked for in tables that do not say where objects are, as those of frames. Where images
    have names (`image_id` is text, or there is a `file_name`), and there is no sequence, each image becomes a sequence
    of its own, whose frame is 1, as the readers of files of images have it.

    Parameters
    ----------
    table
        A table of objects, of frames, of sequences (of pandas, polars or pyarrow, or what exports an Arrow stream).
    sequence, frame, object, joint, x, y, w, h, z, ra, dec, score, category, area, crowd, ignore, visibility
        The name that this column has in the table.
    box
        Where the boxes are: the names of the columns of their numbers, in the order that `box_format` has them, or the
        name of one column of lists (or of such lists as text), or of dicts or structs whose keys have such names. They
        are replaced by `x`, `y` (the top left corner), `w` and `h`, in their units; boxes with an angle by `cx`, `cy`,
        `w`, `h` and `angle`.
    box_format
        "xywh": left, top, width, height; "xyxy": left, top, right, bottom, where width is right - left; "cxcywh": the
        centre, then width and height; "cxcywha": the same and an angle in degrees, from the x axis towards the y axis;
        "corners": x and y of the four corners of a rectangle, one after the other around it. By default what the names
        of the columns tell, and "xywh" for columns that you name.
    size
        The width and height of the images in pixels, two numbers or the names of two columns: coordinates are then
        shares of these, and become pixels, those of `keypoints`, too. Named columns stay.
    keypoints
        The name of a column of lists of 3K numbers: x, y and visibility of each joint, as in COCO's files; or of lists
        of K pairs, which have no visibility. The table becomes one of joints, K rows for each of its rows, with new
        columns `joint`, `x`, `y` and `visibility`; boxes become `box_x`, `box_y`, `box_w` and `box_h`.
    joints
        The K names of the joints; by default COCO's where K is 17, and otherwise 0 to K - 1.
    mask
        The name of a column of masks: COCO's polygons or dicts of run lengths, compressed run lengths as text, or
        arrays (height, width) of bool or uint8. It is replaced by `mask`, `mask_h` and `mask_w`. Polygons, in pixels,
        and text need the `size` of their images. Boxes are then dropped, because a table has one geometry.

    Returns
    -------
    DataFrame of the table's kind (polars or pyarrow; otherwise pandas), with the columns in their order: renamed or
    replaced as said, and all others as they are. Its values are not checked; the function that takes it checks them.

    Raises
    ------
    InputError: a column is missing, is named twice, has no numbers where `box`, `size` or `keypoints` names it, or a
        new name belongs to another column already; two columns may be the one that is looked for; boxes in lists have
        no format that their name tells; corners are those of no rectangle; a column may say how boxes are turned.
    ValueError: `box_format` is something else, or `box`, `size` or `joints` does not fit it.

    Notes
    -----
    Warns of boxes that lie between 0 and 1 without a `size`, and of columns that may be places under unknown names.

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
    cells = {} if is_said or taken else _found_cells(given, claimed, names)
    keypoints, mask = cells.get("keypoints", keypoints), cells.get("mask", mask)
    claimed |= {*cells.values()}
    numbers, form, places = taken or (_listed(box), box_format or "xywh", {})
    of_objects = bool(numbers or places or keypoints or mask or names.keys() & PLACES or {*given.columns} & PLACES)
    of_objects |= geometry_name(given.columns) is not None
    is_elsewhere = numbers or places or keypoints or mask or {"x", "y", "cx"} & {*given.columns, *names}
    in_sky = not is_elsewhere and bool(sky_names([*map(str, given.columns)]))
    of_objects |= in_sky
    looked_for = (*OF_ANY, *(("ra", "dec") if in_sky else ()), *(OF_OBJECTS if of_objects else ()))
    found = _found_names(given, names, claimed | {*numbers, *places.values()}, looked_for) | places
    image = _name_of_image(given, found, names, claimed) if of_objects else None
    if image is not None:
        found = {"sequence": image, **{column: name for column, name in found.items() if column != "frame"}}
    _check_names(given, names | found, [*numbers, *sizes], form if numbers else None, keypoints)
    tidied = _renamed(given, names | found)
    if numbers:
        tidied = with_boxes(given, tidied, numbers, form, size)
    if mask is not None:
        tidied = with_masks(given, tidied, mask, size)
    elif size is not None and (form != "corners" or keypoints is not None):
        tidied = in_pixels(given, tidied, size, keypoints)
    if keypoints is not None:
        tidied = by_joint(given, tidied, keypoints, joints, size)
    if image is not None:
        tidied.insert([*tidied].index("sequence") + 1, "frame", 1)
    _tell(found | cells, numbers if claimed.isdisjoint(numbers) else [], form, one_frame=image is not None)
    _warn(given, tidied, claimed, of_objects=of_objects, are_pixels=size is not None or not numbers)
    return tidied


def _renamed(given: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """The table with these names; what was exploded, or came out of dicts, holds numbers as objects."""
    renamed = given.rename(columns={name: column for column, name in names.items()})
    objects = [name for name in (*BOX, "frame", "score", "area") if name in renamed and renamed[name].dtype == "object"]
    return renamed.assign(**{name: renamed[name].infer_objects() for name in objects})


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
    _check_upright(given, box, form, left)
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
    if told is None and plain(lists[0]) in RADIANS:
        how = f'make its angles degrees, and give box="{lists[0]}" and box_format="cxcywha"'
        raise InputError(f"tidy: table: column {lists[0]} holds boxes whose angles are in radians; {how}")
    if told is None:
        how = f'give box="{lists[0]}" and box_format="xywh" (as in COCO\'s files) or "xyxy" (as in torchvision)'
        raise InputError(f"tidy: table: column {lists[0]} holds boxes, and its name does not tell how; {how}")
    return lists, told, {}


def _check_upright(given: pd.DataFrame, box: list[str], form: BoxFormat, left: list[str]) -> None:
    """Raises InputError if boxes that are taken as upright stand beside a column of angles, not all of them 0."""
    angle = angle_of(left) if box and N_NUMBERS[form] == 4 else None
    if angle is None or not pd.api.types.is_any_real_numeric_dtype(given[angle].dtype) or not given[angle].any():
        return
    upright = ", ".join(f'"{name}"' for name in box)
    turned = (
        f'box=[{upright}, "{angle}"] and box_format="cxcywha" if it is in degrees and turns them about their middle'
    )
    ways = f"give {turned if form == 'cxcywh' else 'the columns of oriented boxes: cx, cy, w, h, angle (degrees)'}"
    also = f'box=[{upright}] and box_format="{form}" if they are upright'
    raise InputError(f"tidy: table: column {angle} may say how boxes are turned; {ways}, or {also}")


def _found_cells(given: pd.DataFrame, claimed: set[str], names: Mapping[str, str]) -> dict[str, str]:
    """The column of keypoints or of masks under its usual name, where no other column says where objects are.

    Raises InputError if there are several.
    """
    left = [str(name) for name in given.columns if name not in claimed]
    if {"x", "y", "cx", "mask_h"} & {*left, *names} or geometry_name(given.columns):
        return {}
    found = {
        argument: [
            name for name in left if plain(name) in known and (holds_lists(given[name]) or holds_dicts(given[name]))
        ]
        for argument, known in (("keypoints", JOINTS), ("mask", MASKS))
    }
    if sum(map(len, found.values())) > 1:
        which = " and ".join(name for of in found.values() for name in of)
        raise InputError(f"tidy: table: columns {which} may both say where objects are; give keypoints= or mask=")
    return {argument: of[0] for argument, of in found.items() if of}


def _name_of_image(
    given: pd.DataFrame, found: Mapping[str, str], names: Mapping[str, str], claimed: set[str]
) -> str | None:
    """The column that names images, each of which is then a sequence of its own; None where frames have numbers.

    That is what the readers of files of images do.
    """
    if "sequence" in {*given.columns, *found, *names} or "frame" in {*given.columns, *names}:
        return None
    candidates = (
        [found["frame"]] if "frame" in found else [str(name) for name in given if plain(name) in NAMES_OF_IMAGES]
    )
    texts = [name for name in candidates if name not in claimed and _holds_text(given[name])]
    return texts[0] if len(texts) == 1 else None


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


def _tell(found: Mapping[str, str], box: Sequence[str], box_format: str, *, one_frame: bool) -> None:
    """Prints in one line which columns were taken without having been named."""
    taken = [f"{column} from {name}" for column, name in found.items()]
    taken += ["frame 1 in each sequence"] if one_frame else []
    taken += [f"box ({box_format}) from {listed(box)}"] if box else []
    if taken:
        text = f"tidy took {', '.join(taken)}"
        print(text if text.isprintable() else repr(text))


def _warn(given: pd.DataFrame, tidied: pd.DataFrame, claimed: set[str], *, of_objects: bool, are_pixels: bool) -> None:
    """Warns of boxes that are rather shares of their images, and of places in columns that are not known."""
    if not are_pixels and are_shares(tidied):
        problem = "all boxes lie between 0 and 1, as shares of their images do"
        warnings.warn(f"tidy: table: {problem}; give size=(width, height) to have pixels", stacklevel=CALLER + 1)
    left = [] if of_objects else [str(name) for name in given if name not in claimed]
    unknown = maybe_places(left)
    unknown += [name for name in left if name not in unknown and _holds_shapes(given[name])]
    if unknown:
        which = f"column {unknown[0]}" if len(unknown) == 1 else f"columns {listed(unknown)}"
        stay = "stays as it is" if len(unknown) == 1 else "stay as they are"
        how = "give box= with box_format=, x= and y=, keypoints= or mask="
        how += "; bounds of shapes are such columns" if any(_holds_shapes(given[name]) for name in unknown) else ""
        warnings.warn(f"tidy: table: {which} may say where objects are, and {stay}; {how}", stacklevel=CALLER + 1)


def _holds_text(values: pd.Series) -> bool:
    """Whether a column holds text, or categories of text."""
    kinds = values.cat.categories if isinstance(values.dtype, pd.CategoricalDtype) else values
    return isinstance(kinds.dtype, pd.StringDtype) or pd.api.types.infer_dtype(kinds) == "string"


def _holds_shapes(values: pd.Series) -> bool:
    """Whether a column holds the shapes of shapely, as tables of geopandas do."""
    return len(values) > 0 and type(values.iloc[0]).__module__.startswith("shapely")
