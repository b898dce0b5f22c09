"""The folder of an evaluation: its plan and its finished parts, so that an interrupted evaluation can go on."""

from collections.abc import Mapping
from typing import Any

import msgspec

from ..support.errors import InputError
from ..support.reading import readable
from ..support.secrets import without_secrets
from ..support.storage import Place, make_folder, remove_temporary, sizes, written
from ..support.version import __version__
from .contents import Contents
from .results import Result, read_result


def matches_place(out: Place, number: int) -> Place:
    """The file of a part's match table."""
    return out.inside("matches", f"part-{number:05}.parquet")


def sums_place(out: Place, number: int) -> Place:
    """The file of a part's sums, which is written last."""
    return out.inside("sums", f"part-{number:05}.arrow")


def resumed(
    out: Place, contents: Mapping[str, Contents], options: Mapping[str, Any], n_parts: int
) -> dict[int, Result]:
    """Prepares the folder, and returns the results that an earlier evaluation of the same has finished, by part.

    A part is finished if the file of its sums is intact and its match table has the size that they note. `options` are
    those that change the results. Raises InputError if the folder belongs to another evaluation or has other files.
    """
    plan, known = _plan(contents, options, n_parts), _known(out)
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
        advice = "give another folder, or remove it"
        raise InputError(f"{out.name}: holds a run of something else ({different} differ); {advice}")
    tidy(out)
    return _finished(out, n_parts)


def _folders(out: Place) -> list[Place]:
    """The folders of the match tables and of the sums."""
    return [out.inside(name) for name in ("matches", "sums")]


def tidy(out: Place) -> None:
    """Removes the unfinished files of killed processes."""
    for folder in _folders(out):
        remove_temporary(folder)


def _plan(contents: Mapping[str, Contents], options: Mapping[str, Any], n_parts: int) -> dict[str, Any]:
    """The plan of an evaluation: the version, the files with size and time of change, and the options."""
    inputs = {
        side: [[without_secrets(file.place.path), *file.state] for file in dataset.files]
        for side, dataset in contents.items()
    }
    plan = {"version": __version__} | inputs | dict(options) | {"n_parts": n_parts}
    return msgspec.json.decode(msgspec.json.encode(plan, enc_hook=str))


def _known(out: Place) -> dict[str, Any] | None:
    """The plan in a folder; None if there is none."""
    place = out.inside("plan.json")
    if "plan.json" not in sizes(out):
        return None
    with readable(place.name), place.filesystem.open_input_stream(place.path) as stream:
        return msgspec.json.decode(stream.read(), type=dict[str, Any])


def _finished(out: Place, n_parts: int) -> dict[int, Result]:
    """The results of the finished parts in a folder, by part."""
    matches, sums = map(sizes, _folders(out))
    finished = {}
    for number in range(n_parts):
        place = sums_place(out, number)
        if place.base_name not in sums:
            continue
        try:
            result = read_result(place)
        except InputError:  # damaged, for example because the machine lost power
            continue
        if result.n_bytes == matches.get(matches_place(out, number).base_name):
            finished[number] = result
    return finished
