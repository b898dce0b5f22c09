"""Lists the files of a Parquet dataset, with the columns that the names of their folders (hive partitions) add."""

import hashlib
import re
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from ..support.errors import InputError, check_memory
from ..support.reading import readable
from ..support.secrets import without_secrets
from ..support.storage import Place, parquet_files, place_of

# Files that are looked at at once: over a network most of the time is spent waiting.
READERS = 8

# How much of the end of a file is read to tell whether it has changed. Most footers fit, and one request is enough.
TAIL = 1 << 16

# What the fields of a state are called in messages.
STATE = ("size", "time of change", "footer")

# The size of the footers (bytes, as the files have them) that are kept once parsed, of the files of one chain. Parsed,
# they take several times that.
KEPT_FOOTERS = 1 << 21


class FileState(NamedTuple):
    """The state of a file: its size (bytes), when it was changed (ns), and the SHA-256 of its footer.

    All three together tell a file that was written anew from the one that was there. `footer` is empty if the file
    cannot be read.
    """

    size: int
    changed: int
    footer: str


class File(NamedTuple):
    """A Parquet file, its state when it was first seen, and the values of its hive partition."""

    place: Place
    state: FileState
    partition: dict[str, Any]


def files_of(source: Any) -> tuple[str, str | None, list[File]]:
    """The name of a dataset, the path of its folder (None if it is given as files), and its files in order.

    Hive partitions are those of the folder or of the pyarrow dataset. Raises InputError if there are no such files, or
    if they are not Parquet on one file system.
    """
    if isinstance(source, str | Path):
        place = place_of(source)
        with readable(place.name):
            info = place.filesystem.get_file_info(place.path)
        if info.type.name == "NotFound":
            raise InputError(f"{place.name}: there is no such file or folder")
        if info.type.name != "Directory":
            return place.name, None, _described([place], [{}])
        places = parquet_files(place)
        partitions = _partitions([file.path[len(place.path) :] for file in places])
        return place.name, place.path, _described(places, partitions)
    if isinstance(source, list | tuple) and source and all(isinstance(path, str | Path) for path in source):
        places = [place_of(path) for path in source]
        return f"{places[0].name} and others", None, _described(places, [{} for _ in places])
    if hasattr(source, "get_fragments") and hasattr(source, "filesystem"):
        return _fragments(source)
    kinds = "a path or URI of a Parquet file or a folder, a list of files, or a pyarrow dataset"
    raise InputError(f"a dataset is needed: {kinds}; this is of type {type(source).__name__}")


def _fragments(dataset: Any) -> tuple[str, None, list[File]]:
    """A name for a pyarrow dataset, and its files with their partitions."""
    import pyarrow.dataset as ds

    if dataset.format.default_extname != "parquet":
        raise InputError(f"the dataset is of {dataset.format.default_extname}; Parquet is needed")
    if dataset._scan_options:  # a filter; pyarrow has no public way to see it
        raise InputError("the dataset is filtered; write the filtered rows to files, or use exclude=")
    fragments = list(dataset.get_fragments())
    if not fragments:
        raise InputError("the dataset has no files")
    places = [Place(dataset.filesystem, fragment.path, without_secrets(fragment.path)) for fragment in fragments]
    partitions = [ds.get_partition_keys(fragment.partition_expression) for fragment in fragments]
    return f"the dataset of {places[0].name}", None, _described(places, partitions)


def _described(places: Sequence[Place], partitions: Sequence[dict[str, Any]]) -> list[File]:
    """The files with their state and their partition."""
    filesystem = places[0].filesystem
    if any(place.filesystem != filesystem for place in places):
        raise InputError(f"{places[0].name} and others: are on several file systems; one is needed")
    return [
        File(place, state or FileState(0, 0, ""), partition)
        for place, state, partition in zip(places, _states(places), partitions, strict=True)
    ]


def _states(places: Sequence[Place]) -> list[FileState | None]:
    """The states of files on one file system as they are now; None for a file that is not there."""
    if not places:
        return []
    with readable(places[0].name):
        infos = places[0].filesystem.get_file_info([place.path for place in places])
    with ThreadPoolExecutor(READERS) as pool:
        footers = list(pool.map(_footer_digest, places))
    return [
        FileState(info.size or 0, info.mtime_ns or 0, footer) if info.type.name != "NotFound" else None
        for info, footer in zip(infos, footers, strict=True)
    ]


def _footer_digest(place: Place) -> str:
    """The SHA-256 of the last TAIL bytes of a file, or of its footer if that is longer; empty if it cannot be read."""
    try:
        with place.filesystem.open_input_file(place.path) as source:
            size = source.size()
            tail = source.read_at(min(size, TAIL), max(size - TAIL, 0))
            length = int.from_bytes(tail[-8:-4], "little") + 8 if tail[-4:] == b"PAR1" else 0
            if len(tail) < length <= size:
                tail = source.read_at(length, size - length)
            return hashlib.sha256(tail).hexdigest()
    except (OSError, pa.ArrowException) as error:
        check_memory(error, place.name)
        return ""


def check_unchanged(files: Iterable[File]) -> None:
    """Raises InputError, naming the files, if some are no longer there or no longer as they were first seen."""
    files = list({file.place.path: file for file in files}.values())
    problems = []
    for file, state in zip(files, _states([file.place for file in files]), strict=True):
        if state is None:
            problems.append(f"{file.place.name}: is not there, though it was; workers must reach it by the same name")
        elif state != file.state:
            which = " and ".join(name for name, now, then in zip(STATE, state, file.state, strict=True) if now != then)
            advice = "leave the files alone during a run, and start it anew"
            problems.append(f"{file.place.name}: was changed during the run ({which} differ); {advice}")
    if problems:
        raise InputError(problems)


def _partitions(paths: Sequence[str]) -> list[dict[str, Any]]:
    """The values in the names of folders such as night=3/camera=a; integers if all values of a key are integers."""
    import pyarrow.dataset as ds

    folders = [[folder for folder in path.split("/")[:-1] if "=" in folder] for path in paths]
    names = list(dict.fromkeys(folder.partition("=")[0] for of_path in folders for folder in of_path))
    if not names:
        return [{} for _ in paths]
    hive = ds.HivePartitioning(pa.schema([(name, pa.string()) for name in names]))
    values = [ds.get_partition_keys(hive.parse("/".join(of_path) + "/")) for of_path in folders]
    whole = {name for name in names if all(_is_integer(of_file.get(name)) for of_file in values)}
    return [
        {name: int(text) if name in whole and text is not None else text for name, text in of_file.items()}
        for of_file in values
    ]


def _is_integer(text: str | None) -> bool:
    """Whether pyarrow takes a value of a partition for an integer; a missing value may be one."""
    return text is None or (re.fullmatch(r"-?\d{1,10}", text, re.ASCII) is not None and abs(int(text)) < 1 << 31)


class OpenedFiles:
    """Opens files again and again while their row groups are read one after the other, and parses their footers once.

    A footer describes all row groups of its file, so parsing it anew for each of them would take time that grows with
    the square of their count. The footers used last are kept, up to KEPT_FOOTERS bytes, but always the very last one.
    """

    def __init__(self) -> None:
        self._footers: dict[str, Any] = {}
        self._size = 0

    def open(self, file: File) -> Any:
        """Opens a file so that its pages are read one after the other; memory does not grow with its row groups."""
        import pyarrow.parquet as pq

        source = file.place.filesystem.open_input_file(file.place.path)
        footer = self._footers.pop(file.place.path, None)
        self._size -= 0 if footer is None else footer.serialized_size
        opened = pq.ParquetFile(
            source, metadata=footer, buffer_size=1 << 18, pre_buffer=False, page_checksum_verification=True
        )
        self._footers[file.place.path] = opened.metadata
        self._size += opened.metadata.serialized_size
        while self._size > KEPT_FOOTERS and len(self._footers) > 1:
            self._size -= self._footers.pop(next(iter(self._footers))).serialized_size
        return opened
