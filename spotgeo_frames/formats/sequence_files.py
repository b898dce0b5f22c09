"""Folders, or archives, that hold one file for each sequence, called by its name."""

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from ..support.errors import InputError
from ..support.names import is_text
from ..support.reading import read_archive, read_bytes


class File(NamedTuple):
    """One sequence of one side: its name, what messages call its file, and what reads it."""

    sequence: str
    name: str
    read: Callable[[], bytes]


def file_of(path: Path, sequence: str) -> File:
    """The file of a sequence at `path`."""
    if not is_text(sequence):
        raise InputError(f"{path}: its name is no text in UTF-8")
    return File(sequence, str(path), partial(read_bytes, path))


def flat_files(
    folder: Path, ending: str, wanted: str, hints: Sequence[Path] = (), nested: tuple[str, str] | None = None
) -> list[File]:
    """The SEQUENCE.`ending` of a folder, or of a .zip whatever folders they lie in there, in the order of their names.

    Raises InputError where there are none: `wanted` says what is missing, and of the paths in `hints` the first that
    exists may be what was meant. `nested` are the last folder and name of files of a layout that cannot stay packed.
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
    meant = next((f"; is {path} meant?" for path in hints if path.exists()), "")
    raise InputError(f"{folder}: holds no sequences: {wanted}{meant}")


def _packed_files(path: Path, ending: str, nested: tuple[str, str] | None) -> list[File]:
    contents = read_archive(path, ending)
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
    if problems:
        raise InputError(problems)
    return [found[name] for name in sequences]
