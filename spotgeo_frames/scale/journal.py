"""The folder of a run: what it is a run of, and which parts are finished, so that an interrupted run goes on."""

from collections.abc import Mapping
from typing import Any

import msgspec

from ..errors import InputError
from ..version import __version__
from .contents import Contents
from .evaluation import matches_place, sums_place
from .results import Result, read_result
from .storage import Place, make_folder, remove_temporary, sizes, unreadable, written


def resumed(out: Place, contents: Mapping[str, Contents], what: Mapping[str, Any], n_parts: int) -> dict[int, Result]:
    """Makes the folder ready for a run and returns what an earlier run of the same has finished, by number of part.

    A part is finished if its sums are there, whole, and its match table has the size that they say. Raises InputError
    where the folder is of another run, or of something else.
    """
    plan = _plan(contents, what, n_parts)
    folders = [out.inside(name) for name in ("matches", "sums")]
    known = _known(out)
    if known is None:
        for folder in folders:
            if sizes(folder):
                raise InputError(f"{folder.name}: holds files of something else; give another folder")
        for folder in folders:
            make_folder(folder)
        with written(out.inside("plan.json")) as stream:
            stream.write(msgspec.json.format(msgspec.json.encode(plan), indent=1))
        return {}
    different = [name for name in plan if known.get(name) != plan[name]]
    if different:
        names = ", ".join(different)
        raise InputError(
            f"{out.name}: holds a run of something else ({names} differ); give another folder, or remove it"
        )
    for folder in folders:
        make_folder(folder)
    tidy(out)
    return _finished(out, n_parts)


def tidy(out: Place) -> None:
    """Removes what whoever was killed had begun to write."""
    for name in ("matches", "sums"):
        remove_temporary(out.inside(name))


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
    with unreadable(place.name), place.filesystem.open_input_stream(place.path) as stream:
        return msgspec.json.decode(stream.read(), type=dict[str, Any])


def _finished(out: Place, n_parts: int) -> dict[int, Result]:
    written_sums, written_matches = sizes(out.inside("sums")), sizes(out.inside("matches"))
    finished = {}
    for number in range(n_parts):
        place = sums_place(out, number)
        if place.path.rpartition("/")[2] not in written_sums:
            continue
        try:
            result = read_result(place)
        except InputError:  # written by a machine that then lost power
            continue
        if result.n_bytes == written_matches.get(matches_place(out, number).path.rpartition("/")[2]):
            finished[number] = result
    return finished
