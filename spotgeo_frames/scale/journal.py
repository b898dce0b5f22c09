"""The folder of a run: what it is a run of, and which parts are finished, so that an interrupted run goes on."""

from collections.abc import Mapping
from typing import Any

import msgspec

from ..support.errors import InputError
from ..support.reading import readable
from ..support.storage import Place, make_folder, remove_temporary, sizes, written
from ..support.version import __version__
from .contents import Contents
from .results import Result, read_result


def matches_place(out: Place, number: int) -> Place:
    """Where the match table of a part goes."""
    return out.inside("matches", f"part-{number:05}.parquet")


def sums_place(out: Place, number: int) -> Place:
    """Where the sums of a part go, last."""
    return out.inside("sums", f"part-{number:05}.arrow")


def resumed(out: Place, contents: Mapping[str, Contents], what: Mapping[str, Any], n_parts: int) -> dict[int, Result]:
    """Makes the folder ready for a run and returns what an earlier run of the same has finished, by number of part.

    A part is finished if its sums are there, whole, and its match table has the size that they say. Raises InputError
    where the folder is of another run, or of something else.
    """
    plan, known = _plan(contents, what, n_parts), _known(out)
    for folder in _folders(out):
        if known is None and sizes(folder):
            raise InputError(f"{folder.name}: holds files of something else; give another folder")
        make_folder(folder)
    if known is None:
        with written(out.inside("plan.json")) as stream:
            stream.write(msgspec.json.format(msgspec.json.encode(plan), indent=1))
        return {}
    different = ", ".join(name for name in plan if known.get(name) != plan[name])
    if different:
        what_to_do = "give another folder, or remove it"
        raise InputError(f"{out.name}: holds a run of something else ({different} differ); {what_to_do}")
    tidy(out)
    return _finished(out, n_parts)


def _folders(out: Place) -> list[Place]:
    return [out.inside(name) for name in ("matches", "sums")]


def tidy(out: Place) -> None:
    """Removes what whoever was killed had begun to write."""
    for folder in _folders(out):
        remove_temporary(folder)


def _plan(contents: Mapping[str, Contents], what: Mapping[str, Any], n_parts: int) -> dict[str, Any]:
    """What tells a run from others: the version, the inputs' files with size and time of change, and the options."""
    inputs = {side: [[file.place.path, *file.state] for file in held.files] for side, held in contents.items()}
    plan = {"version": __version__} | inputs | dict(what) | {"n_parts": n_parts}
    return msgspec.json.decode(msgspec.json.encode(plan, enc_hook=str))


def _known(out: Place) -> dict[str, Any] | None:
    """The plan that a folder has."""
    place = out.inside("plan.json")
    if "plan.json" not in sizes(out):
        return None
    with readable(place.name), place.filesystem.open_input_stream(place.path) as stream:
        return msgspec.json.decode(stream.read(), type=dict[str, Any])


def _finished(out: Place, n_parts: int) -> dict[int, Result]:
    matches, sums = map(sizes, _folders(out))
    finished = {}
    for number in range(n_parts):
        place = sums_place(out, number)
        if place.base_name not in sums:
            continue
        try:
            result = read_result(place)
        except InputError:  # written by a machine that then lost power
            continue
        if result.n_bytes == matches.get(matches_place(out, number).base_name):
            finished[number] = result
    return finished
