"""Columns in other words than this package's: what they may stand for, and the call of `tidy` that would mend them.

Nothing here renames a column. A table in other words is refused, because an answer about the columns that happen to
have the right names would be an answer about something else: boxes with `width` and `height` would be taken for points.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from .messages import listed, missing
from .schema import BOX, BUILT_IN_COLUMNS
from .spellings import (
    ANGLES,
    BOXES,
    CORNERS,
    EDGES,
    IMAGE_SIZES,
    JOINTS,
    LIST_FORMATS,
    LISTS,
    MASKS,
    OF_PLACES,
    PARTS,
    POINTS,
    RADIANS,
    SIZES,
    SKY,
    SPELLINGS,
    TURNED,
)
from .spellings import BoxFormat as BoxFormat  # for other rooms, too
from .spellings import plain as plain

# The arguments of `tidy` that make coordinates, with what is made of them, and columns that these do not make.
IN_PLACE_OF_XY = {"box": "it", "ra": "places in the sky", "keypoints": "joints", "mask": "masks"}
PLAIN = ("frame", "object", "score", "category")

CARRIED = "give {them} another name if {they} only to be carried along"


class Told(NamedTuple):
    """What the caller has said about the geometry.

    `points` is true where points are meant, by a tau or similarity="point"; `boxes` and `poses` where a similarity says
    so; `own` where pairs are measured by a function of the caller's, which knows its columns.
    """

    points: bool = False
    boxes: bool = False
    poses: bool = False
    own: bool = False


def plays_a_part(column: Hashable) -> bool:
    """Whether a column plays a part in an evaluation, or may be one that does in other words.

    >>> plays_a_part("score"), plays_a_part("bbox_x1"), plays_a_part("brightness")
    (True, True, False)
    """
    return plain(column) in PARTS


def in_other_words(column: str, columns: Iterable[Hashable]) -> list[str]:
    """The columns that may be `column` under another name, the likeliest first; none where it is there itself."""
    there = [str(name) for name in columns]
    if column in there:
        return []
    known = {name: place for place, name in enumerate((column, *SPELLINGS.get(column, ())))}
    return sorted((name for name in there if plain(name) in known), key=lambda name: known[plain(name)])


def tidy_call(columns: Iterable[Hashable], name: str = "table", wanted: Collection[str] = ()) -> str:
    """The call of `tidy` that mends a table with these columns, or an empty text if nothing in it is known.

    `wanted` are the columns to look for, besides the key and the geometry, which are always looked for.

    >>> tidy_call(["video", "image_id", "object", "xmin", "ymin", "xmax", "ymax"])
    'tidy(table, sequence="video", frame="image_id", box=["xmin", "ymin", "xmax", "ymax"], box_format="xyxy")'
    >>> tidy_call(["sequence", "frame", "bbox"])
    'tidy(table, box="bbox", box_format="xywh")'
    """
    words = _words([str(column) for column in columns], wanted)
    return f"tidy({name}, {', '.join(words.values())})" if words else ""


def way_out(why: str, columns: Iterable[Hashable], column: str, wanted: Collection[str] = ()) -> str:
    """The reason why a column is needed, with the call that makes it of others, if there is one.

    >>> way_out("frames need it", ["sequence", "frame_id", "x", "y"], "frame")
    'frames need it; tidy(table, frame="frame_id") makes it'
    >>> way_out("frames need it", ["sequence", "x", "y"], "frame")
    'frames need it'
    >>> way_out("it is needed", ["frame", "bbox"], "x")
    'it is needed; tidy(table, box="bbox", box_format="xywh") makes it (box_format="xyxy" of corners)'
    >>> way_out("it is needed", ["frame", "x", "y"], "sequence")
    'it is needed; table.assign(sequence=1) makes it where all rows are of one sequence'
    """
    words = _words([str(name) for name in columns], wanted)
    call = f"tidy(table, {', '.join(words.values())})"
    if column in words:
        return f"{why}; {call} makes it"
    if column == "sequence":
        return f"{why}; table.assign(sequence=1) makes it where all rows are of one sequence"
    if column in PLAIN or words.keys().isdisjoint({*BOX, *IN_PLACE_OF_XY}):
        return why
    made = next((of for argument, of in IN_PLACE_OF_XY.items() if argument in words), "it")
    is_guessed = words.get("box", "").endswith('", box_format="xywh"')
    return f"{why}; {call} makes {made}" + (' (box_format="xyxy" of corners)' if is_guessed else "")


def missing_columns(
    name: str, lacking: Iterable[str], there: Collection[Hashable], wanted: Collection[str]
) -> list[str]:
    """The problems of a table `name` that lacks columns, with the call that makes them; a call is told once.

    >>> missing_columns("truth", ["x", "y"], ["frame", "cx", "cy"], ["frame"])[1]
    'truth: column y is missing; the same tidy() call makes it'
    """
    problems, told = [], set()
    for column in lacking:
        why = way_out(f"there are {listed(there)}{incomplete(there)}", there, column, wanted)
        is_told, call = why in told, "the same tidy() call makes it"
        problems.append(missing(name, column, there, call if is_told and "tidy(" in why else why))
        told.add(why)
    return problems


def _words(there: list[str], wanted: Collection[str]) -> dict[str, str]:
    """The arguments of `tidy` that mend a table with these columns, by their names; those of boxes stand together."""
    words = {
        column: f'{column}="{found[0]}"'
        for column in dict.fromkeys(("sequence", "frame", "object", *wanted))
        if column not in ("w", "h") and (found := in_other_words(column, there))
    }
    return words | _geometry_words(there)


def incomplete(columns: Iterable[Hashable]) -> str:
    """Which column a table without x and y lacks of a geometry of which it has all others; empty if it has none such.

    >>> incomplete(["cx", "cy", "h", "angle"]), incomplete(["x", "y", "w"])
    ('; oriented boxes (cx, cy, w, h, angle) would need w, too', '')
    """
    there = {*map(str, columns)}
    for name, needed in BUILT_IN_COLUMNS.items():
        lacking = [column for column in needed if column not in there]
        if len(lacking) == 1 and {"x", "y"}.isdisjoint(needed):
            return f"; {name} ({', '.join(needed)}) would need {lacking[0]}, too"
    return ""


def _geometry_words(there: list[str]) -> dict[str, str]:
    """The arguments of `tidy` that name the columns of the geometry; none where nothing has to be renamed.

    There are none for boxes that may be turned either: without their angle they would be other boxes.
    """
    box, box_format, places = found_geometry(there)
    if box and (box_format not in ("xywh", "xyxy", "cxcywh") or angle_of(there) is None):
        columns = ", ".join(f'"{name}"' for name in box)
        return {"box": f"box=[{columns}]" + (f', box_format="{box_format}"' if box_format != "xywh" else "")}
    if box or places or {"x", "y"} <= {*there}:
        return {} if box else {axis: f'{axis}="{name}"' for axis, name in places.items()}
    sky = sky_names(there)
    if sky:
        return {axis: f'{axis}="{name}"' for axis, name in sky.items() if axis != name}
    for argument, known in (("box", LISTS - RADIANS), ("keypoints", JOINTS)):
        name = next((name for name in there if plain(name) in known), None)
        if name is not None:
            form = f', box_format="{LIST_FORMATS.get(plain(name), "xywh")}"' if argument == "box" else ""
            return {argument: f'{argument}="{name}"{form}'}
    mask = mask_words(there)
    return {"mask": ", ".join(mask)} if mask else {}


def angle_of(there: Iterable[str]) -> str | None:
    """The column that may say how boxes are turned; None without any."""
    return next((name for name in there if plain(name) in TURNED), None)


def maybe_places(there: Iterable[str]) -> list[str]:
    """The columns whose names tell that they may say where objects are.

    >>> maybe_places(["bbox_0", "bbox_1", "frame", "direction"])
    ['bbox_0', 'bbox_1']
    """
    return [name for name in there if OF_PLACES.search(plain(name)) or plain(name) in LISTS]


def mask_words(there: Collection[str]) -> list[str]:
    """The arguments of `tidy` that name a column of masks and the size of their images; none without such a column.

    >>> mask_words(["segmentation", "image_width", "image_height"])
    ['mask="segmentation"', 'size=("image_width", "image_height")']
    >>> mask_words(["rle"])
    ['mask="rle"', 'size=(width, height)']
    """
    named = [name for name in there if plain(name) in MASKS]
    if not named or {"mask", "mask_h", "mask_w"} <= {*there}:
        return []
    by_plain = {plain(name): name for name in there}
    sizes = next((pair for pair in IMAGE_SIZES if {*pair} <= by_plain.keys()), None)
    size = "width, height" if sizes is None else ", ".join(f'"{by_plain[side]}"' for side in sizes)
    return [f'mask="{named[0]}"', f"size=({size})"]


def sky_names(there: Collection[str]) -> dict[str, str]:
    """The columns of right ascension and declination, by ra and dec; none where one of them is not there."""
    found = {axis: axis if axis in there else next(iter(in_other_words(axis, there)), None) for axis in ("ra", "dec")}
    return {axis: name for axis, name in found.items() if name is not None} if all(found.values()) else {}


def geometry_groups(there: Collection[str]) -> list[list[str]]:
    """Groups of columns, none in two of them, that may each say where objects are; at most one where that is plain."""
    groups: list[list[str]] = []
    by_plain: dict[str, list[str]] = {}
    for name in there:
        by_plain.setdefault(plain(name), []).append(name)
    for names in [*(box for _, box in BOXES), *POINTS]:
        if not all(name in by_plain for name in names):
            continue
        group = [of for name in names for of in by_plain[name]]
        if len(group) > len(names) and not {*BOX} <= {*there}:  # X beside x
            half = [of for of in group if of in BOX] or group[: len(names)]
            return [half, [of for of in group if of not in half]]
        if all({*group}.isdisjoint(other) for other in groups):
            groups.append(group)
    return groups


def found_geometry(there: Collection[str]) -> tuple[list[str], BoxFormat, dict[str, str]]:
    """The columns of boxes under their usual names with their format, or those of points that have to be renamed.

    There are none where nothing has to be renamed, and of boxes with an angle only those of their middle.
    """
    is_turned = any(plain(name) in ANGLES for name in there)
    if {*BOX} <= {*there} or {"cx", "cy", "w", "h", "angle"} <= {*there} or {"joint", "x", "y"} <= {*there}:
        return [], "xywh", {}
    by_plain: dict[str, str] = {}
    for name in there:
        by_plain.setdefault(plain(name), name)
    by_plain |= {name: name for name in BOX if name in there}  # w may stand beside W
    for box_format, names in BOXES:
        if all(name in by_plain for name in names) and (box_format == "cxcywha" or not is_turned):
            return [by_plain[name] for name in names], box_format, {}
    if {"x", "y"} <= {*there} or is_turned:
        return [], "xywh", {}
    for x, y in POINTS:
        if x in by_plain and y in by_plain:
            axes = (("x", by_plain[x]), ("y", by_plain[y]))
            return [], "xywh", {axis: name for axis, name in axes if name != axis}
    return [], "xywh", {}


@lru_cache(maxsize=256)  # the batches of a loop have the same columns
def geometry_problem(columns: tuple[str, ...], name: str, told: Told) -> str | None:
    """What is wrong with a table of such columns that would be taken for another geometry than it may be of; or None.

    Messages call the table `name`. Columns that lack x or y are refused elsewhere.
    """
    if told.own or not {"x", "y"} <= {*columns}:
        return None
    found: dict[str, str] = {}
    for column in columns:
        found.setdefault(plain(column), column)
    if "joint" in columns:
        return None if told.points or told.poses else _third(found, name, "joint")
    if "w" in columns and "h" in columns:
        if told.points:
            return None
        return _turned(found, name) or _third(found, name, "w and h")
    return None if told.points or told.boxes else _as_points(columns, found, name)


def _as_points(columns: tuple[str, ...], found: Mapping[str, str], name: str) -> str | None:
    """The problem of a table with x and y, and without w and h, that may be no table of points; or None."""
    signs = [found[sign] for sign in found if sign in SIZES | CORNERS | LISTS]
    edges = [found[sign] for sign in found if sign in EDGES]
    signs += edges if len(edges) > 1 or signs else []
    if signs:
        call = tidy_call(columns, "table")
        mend = f"call {call}" if call else "make columns x, y (top left), w and h of them"
        return _problem(name, signs, "of boxes, which need x, y, w and h", mend)
    signs = [found[sign] for sign in found if sign in ANGLES]
    if signs:
        mend = "make columns cx, cy (the centre), w, h and angle (degrees) of oriented boxes"
        return _problem(name, signs, "of an oriented box, which points are not", mend)
    signs = [found[sign] for sign in found if sign in SKY]
    if signs:
        mend = "give ra and dec (degrees), without x and y, to measure in the sky"
        return _problem(name, signs, "of a place in the sky, and x and y would be measured", mend)
    signs = [found[sign] for sign in found if sign in MASKS]
    if signs:
        mend = f"call tidy(table, {', '.join(mask_words(columns))}) to compare masks"
        return _problem(name, signs, "of masks, and x and y would be matched as points", mend)
    signs = [found[sign] for sign in found if sign in JOINTS]
    if signs:
        mend = "make a row of each joint, with a column joint"
        return _problem(name, signs, "of keypoints, and x and y would be matched as points", mend)
    return _third(found, name, "")


def _problem(name: str, signs: list[str], of_what: str, mend: str) -> str:
    """The problem of a table in which these columns are signs of another geometry, with the ways out."""
    looks = f"column {signs[0]} looks like that" if len(signs) == 1 else f"columns {', '.join(signs)} look like those"
    ways = [mend, "give tau (px) or similarity='point' if x and y are points", _carried(signs)]
    return f"{name}: {looks} {of_what}; {'; or '.join(ways)}"


def _carried(signs: list[str]) -> str:
    them, they = ("it", "it is") if len(signs) == 1 else ("them", "they are")
    return CARRIED.format(them=them, they=they)


def _turned(found: Mapping[str, str], name: str) -> str | None:
    """The problem of boxes with a column that says how they are turned; or None."""
    signs = [found[sign] for sign in found if sign in TURNED]
    if not signs:
        return None
    problem = f"column {signs[0]} says how boxes are turned, and the IoU is that of upright boxes"
    mend = "make columns cx, cy (the centre), w, h and angle (degrees) to compare oriented boxes"
    return f"{name}: {problem}; {mend}; or {_carried(signs[:1])}"


def _third(found: Mapping[str, str], name: str, other: str) -> str | None:
    """The problem of a table with a third coordinate, which is not measured beside `other` columns; or None."""
    if "z" not in found:
        return None
    problem = f"column {found['z']} is a third coordinate, and only x and y are measured"
    mend = f"{f'leave out {other}' if other else 'call it z'} to measure points in space"
    return f"{name}: {problem}; {mend}; or {_carried([found['z']])}"


def third_left_out(columns: Iterable[Hashable], name: str) -> str | None:
    """A warning that a third coordinate plays no part where x and y are measured; or None."""
    third = next((column for column in columns if plain(column) == "z"), None)
    return None if third is None else f"{name}: column {third} plays no part; only x and y are measured"


def sky_left_out(columns: Iterable[Hashable], name: str) -> str | None:
    """A warning that places in the sky play no part where x and y are measured; or None."""
    if not {"x", "y", "ra", "dec"} <= {*columns}:
        return None
    return f"{name}: ra and dec play no part, and tau is in px; give tables without x and y to measure in the sky"


@lru_cache(maxsize=256)
def naming_problem(truth: tuple[str, ...], predictions: tuple[str, ...]) -> str | None:
    """What is wrong where both sides call their classes or scores, or the truth its crowds, otherwise; or None."""
    for column, noun in (("category", "classes"), ("score", "scores")):
        names = [in_other_words(column, columns) for columns in (truth, predictions)]
        if all(names) and column not in truth and column not in predictions:
            call = ", ".join(dict.fromkeys(f'tidy(table, {column}="{found[0]}")' for found in names))
            signs = list(dict.fromkeys(found[0] for found in names))
            looks = f"column {signs[0]} looks" if len(signs) == 1 else f"columns {' and '.join(signs)} look"
            problem = f"{looks} like {noun}, which are called {column} here, so they would play no part"
            return f"truth and predictions: {problem}; call {call}; or {_carried(signs)}"
    crowds = in_other_words("crowd", truth)
    if crowds:
        problem = f"column {crowds[0]} looks like that of crowds, which is called crowd here, so it would play no part"
        return f'truth: {problem}; call tidy(table, crowd="{crowds[0]}"); or {_carried(crowds[:1])}'
    return None


def names_without_blanks(names: Sequence[str]) -> list[str]:
    """The names of columns without the blanks around them; a name stays as it is where two would be the same.

    >>> names_without_blanks(["sequence", " frame", "x ", " x"])
    ['sequence', 'frame', 'x ', ' x']
    """
    times = Counter(name.strip() for name in names)
    return [name.strip() if times[name.strip()] == 1 else name for name in names]
