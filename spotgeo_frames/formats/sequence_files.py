"""Folders, or archives, that hold one file for each sequence, called by its name.

A folder one level above is taken for the one in it that holds the sequences, as trackers/NAME for trackers/NAME/data.
"""

import os
from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..support import Copy, InputError, check_none, is_text, reading


class File(NamedTuple):
    """One sequence of one side: its name, what messages call its file, and what reads it."""

    sequence: str
    name: str
    read: Callable[[], bytes]


def file_of(path: Path, sequence: str) -> File:
    """The file of a sequence at `path`."""
    if not is_text(sequence):
        raise InputError(f"{path}: its name is no text in UTF-8")
    return File(sequence, str(path), partial(reading.read_bytes, path))


def holds_files(folder: Path, ending: str, sequences: Sequence[str] | None = None) -> bool:
    """Whether a folder or a .zip holds any SEQUENCE.`ending`; one of these sequences, unless they are None."""
    if folder.is_dir():
        with os.scandir(folder) as entries:
            names = {entry.name for entry in entries if entry.name.endswith(ending) and not entry.is_dir()}
    else:
        names = {PurePosixPath(name).name for name in reading.archive_names(folder) if name.endswith(ending)}
    return bool(names) if sequences is None else not names.isdisjoint(f"{name}{ending}" for name in sequences)


def folder_below(folder: Path, holds: Callable[[Path], bool]) -> Path | None:
    """The one folder, or .zip, right below a folder that holds what is looked for; None where none does.

    Raises InputError where several do. Hidden folders, and what begins with _ as files of other programs do, are left
    out.
    """
    if not folder.is_dir():
        return None
    entries = sorted(path for path in folder.iterdir() if not path.name.startswith((".", "_")))
    found = [path for path in entries if (path.is_dir() or path.suffix.lower() == ".zip") and holds(path)]
    if len(found) > 1:
        named = " and ".join(map(str, found[:3])) + (f" and {len(found) - 3} more" if len(found) > 3 else "")
        raise InputError(f"{folder}: holds no sequences itself, and {named} do; give one of them")
    return found[0] if found else None


def label_folder(path: Path, ending: str, names: Sequence[str] = ()) -> Path:
    """The folder of label files: the path itself, the folder of one of these names in it, or the one that holds some.

    Raises InputError where none has such a name and several hold files of this ending.
    """
    holds = partial(holds_files, ending=ending)
    if not path.is_dir() or holds(path):
        return path
    with reading.readable(path):
        named = next((path / name for name in names if (path / name).is_dir()), None)
        return named or folder_below(path, holds) or path


def folder_of_tracker(folder: Path, ending: str, sequences: Sequence[str]) -> Path:
    """The folder itself, or the one below it where that has the files of the truth's sequences.

    Files of other names, such as the summary that trackeval writes above the tracker's files, do not count.
    """
    for of in (sequences, None):
        holds = partial(holds_files, ending=ending, sequences=of)
        found = folder if holds(folder) else folder_below(folder, holds)
        if found is not None:
            return found
    return folder


def copies_meant(
    copies: Sequence[Copy], truth_folder: Callable[[Path], Path], sequences_of: Callable[[Path], list[str]], ending: str
) -> list[Copy]:
    """The truth's folder and the tracker's, if there is one, or what is meant of those right below them."""
    meant: list[Copy] = []
    for copy in copies:
        with reading.readable(copy.path):
            path = copy.path
            path = folder_of_tracker(path, ending, sequences_of(meant[0].path)) if meant else truth_folder(path)
        name = copy.name if path == copy.path else os.path.join(copy.name, path.name)
        meant.append(copy._replace(path=path, name=name))
    return meant


def flat_files(
    folder: Path, ending: str, wanted: str, hint: str = "", nested: tuple[str, str] | None = None
) -> list[File]:
    """The SEQUENCE.`ending` of a folder, or of a .zip whatever folders they lie in there, in the order of their names.

    Raises InputError where there are none: `wanted` says what is missing, and `hint` what may be meant. `nested` are
    the last folder and name of files of a layout that cannot stay packed.
    """
    if folder.is_dir():
        paths = sorted(path for path in folder.iterdir() if path.name.endswith(ending))
        files = [file_of(path, path.stem) for path in paths if not path.is_dir()]
    elif folder.suffix.lower() == ".zip":
        files = _packed_files(folder, ending, nested)
    elif folder.exists():
        raise InputError(f"{folder}: is neither a folder nor a .zip archive")
    else:
        raise InputError(f"{folder}: there is no such folder")
    if files:
        return files
    raise InputError(f"{folder}: holds no sequences: {wanted}{hint}")


def _packed_files(path: Path, ending: str, nested: tuple[str, str] | None) -> list[File]:
    contents = reading.read_archive(path, ending)
    if any(PurePosixPath(name).parts[-2:] == nested for name in contents):
        layout = "/".join(["SEQUENCE", *(nested or ())])
        raise InputError(f"{path}: holds {layout}; unpack it, or pack files called SEQUENCE{ending}")
    named = [(PurePosixPath(name).stem, name) for name in sorted(contents)]
    twice = [sequence for sequence, times in Counter(sequence for sequence, _ in named).items() if times > 1]
    if twice:
        raise InputError([f"{path}: holds {sequence}{ending} more than once" for sequence in twice])
    return [File(sequence, f"{path}, {name}", partial(bytes, contents[name])) for sequence, name in named]


def of_sequences(
    files: Sequence[File], sequences: Sequence[str], folder: Path, truth_dir: Path, missing: str
) -> list[File]:
    """The files of `folder` that are of the truth's sequences, in their order.

    Raises InputError where one is missing (`missing` says what is to be done, after the file's name) or is of another
    sequence.
    """
    found = {file.sequence: file for file in files}
    problems = [f"{folder}: {name}{missing}" for name in sequences if name not in found]
    known = {*sequences}
    problems += [
        f"{file.name}: there is no sequence {name} in {truth_dir}" for name, file in found.items() if name not in known
    ]
    check_none(problems)
    return [found[name] for name in sequences]
