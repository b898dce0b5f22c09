"""Addresses of files and folders, such as s3://bucket/folder: which file system each is on, and its path there.

Names in addresses are taken as they are, as other tools take them: a space is a space, and %20 is none. Only after
file:// and in a user name, a password and a query, %20 stands for a space. A query begins with the first ?.

pyarrow reaches S3, Google's storage, Azure's, HDFS and the local disk. fsspec, an extra, reaches what pyarrow does not
know, such as http. Options have the names that fsspec's file systems give them, for S3 too.

Readers of whole files get local copies. What is on this machine is read where it is. What an address or wildcards name
is fetched once into a temporary folder, and removed when it has been read.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, quote

from .errors import InputError, check_memory, first_line, without_secrets
from .packages import check_extra

if TYPE_CHECKING:
    from pyarrow.fs import FileSystem

# The options of S3 by the names of s3fs, and pyarrow's names of the same.
S3_OPTIONS = {
    "key": "access_key",
    "secret": "secret_key",
    "token": "session_token",
    "endpoint_url": "endpoint_override",
    "region_name": "region",
    "anon": "anonymous",
}

# What pyarrow reaches without options; after file://, %20 stands for a space.
_OF_PYARROW = ("file", "s3", "gs", "gcs", "abfs", "abfss", "hdfs", "viewfs")

# A scheme has two letters or more, since C:/ is a drive. A Path leaves one slash of two.
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:/")


class Storage(NamedTuple):
    """How to reach files: the options of the file systems of addresses, or the file system itself (None: neither)."""

    options: Mapping[str, Any] | None = None
    filesystem: Any = None


def is_address(name: str | Path) -> bool:
    """Whether a name is an address such as s3://bucket/folder, also as the Path that was made of one."""
    text = os.fspath(name)
    if "://" in text:
        return True
    return isinstance(name, Path) and _SCHEME.match(text) is not None and not os.path.lexists(text)


def address_text(name: str | Path) -> str:
    """An address as text, with the slashes that a Path leaves out, also those of an address in its query."""
    text = os.fspath(name)
    return re.sub(r"(^|=)([A-Za-z][A-Za-z0-9+.-]+):/(?!/)", r"\1\2://", text) if isinstance(name, Path) else text


def shown(name: str | Path) -> str:
    """A path or an address as people see it: an address has neither user name nor password nor query."""
    return without_secrets(address_text(name)) if is_address(name) else os.fspath(name)


def base_name(name: str | Path) -> str:
    """The last part of a path or an address, without the query of an address."""
    text = address_text(name).partition("?")[0] if is_address(name) else os.fspath(name)
    return Path(text).name


def reached(name: str | Path, storage: Storage) -> tuple[FileSystem, str]:
    """The pyarrow file system of a path or an address, and the path there.

    Without an address a path is local, unless there is a file system. Raises InputError if it cannot be reached, and
    ImportError if what reaches it is not installed.
    """
    from pyarrow import fs  # imported only here: it takes a while, and local files in memory do without

    text = address_text(name) if is_address(name) else os.fspath(name)
    if storage.filesystem is not None:
        return _of_filesystem(storage.filesystem, text)
    if not is_address(name):
        return fs.LocalFileSystem(), _local_path(text)
    try:
        return _of_address(text, storage.options or {})
    except (OSError, ValueError, TypeError, NotImplementedError) as error:  # Arrow's errors are OSError and ValueError
        check_memory(error, text)
        raise InputError(f"{text}: cannot be reached: {first_line(error)}") from None


def _local_path(text: str) -> str:
    """The absolute path of a file or folder of this machine, with slashes, as pyarrow has it on Windows too."""
    return os.path.abspath(os.path.expanduser(text)).replace(os.sep, "/")


def _of_address(text: str, options: Mapping[str, Any]) -> tuple[FileSystem, str]:
    """The file system of an address, and the path there."""
    from pyarrow import fs

    if not isinstance(options, Mapping):
        raise ValueError(f"storage_options is of type {type(options).__name__}; a dict of options is needed")
    scheme, _, rest = text.partition("://")
    if not re.match("[^/?]", rest) and scheme in ("s3", "gs"):
        raise ValueError("it names no bucket")
    if options and scheme == "s3":
        return _s3(text, options)
    if scheme == "file" or (not options and scheme in _OF_PYARROW):
        return fs.FileSystem.from_uri(_encoded(text, "/@%" if scheme == "file" else "/@"))
    return _by_fsspec(text, options)


def _encoded(text: str, safe: str) -> str:
    """An address as pyarrow takes it: in its path, all characters are encoded but letters, digits, _.-~ and `safe`."""
    address, mark, query = text.partition("?")
    scheme, _, rest = address.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}://{host}{slash}{quote(path, safe)}{mark}{query}"


def _of_filesystem(filesystem: Any, text: str) -> tuple[FileSystem, str]:
    """A caller's file system, pyarrow's or fsspec's, as one of pyarrow, and the path of a text there."""
    from pyarrow import fs

    if isinstance(filesystem, fs.FileSystem):
        local = isinstance(filesystem, fs.LocalFileSystem)
        path = _local_path(text) if local else text.partition("://")[2] or text
        return filesystem, path.partition("?")[0] if "://" in text else path
    if not hasattr(filesystem, "_strip_protocol"):
        kind = type(filesystem).__name__
        raise ValueError(f"filesystem is of type {kind}; a file system of pyarrow or fsspec is needed")
    return fs.PyFileSystem(fs.FSSpecHandler(filesystem)), filesystem._strip_protocol(text)


def _s3(text: str, options: Mapping[str, Any]) -> tuple[FileSystem, str]:
    """S3 with these options, and what the query of the address says besides; and the path there."""
    from pyarrow import fs

    named = {**options, **options.get("client_kwargs", {})}
    named.pop("client_kwargs", None)
    unknown = [name for name in named if name not in S3_OPTIONS]
    if unknown:
        known = ", ".join([*S3_OPTIONS, "client_kwargs"])
        raise ValueError(f"storage_options: {unknown[0]!r} is no option here; there are {known}")
    address, _, query = text.partition("?")
    host, slash, rest = address.removeprefix("s3://").partition("/")
    path = host.rpartition("@")[2] + slash + rest
    of_query = {name: {"true": True, "false": False}.get(value, value) for name, value in parse_qsl(query)}
    arguments = of_query | {S3_OPTIONS[name]: value for name, value in named.items()}
    if not {"region", "endpoint_override"} & arguments.keys():
        arguments["region"] = fs.resolve_s3_region(path.partition("/")[0])
    return fs.S3FileSystem(**arguments), path.rstrip("/")


def _by_fsspec(text: str, options: Mapping[str, Any]) -> tuple[FileSystem, str]:
    """The file system that fsspec has for an address, as one of pyarrow, and the path there."""
    from pyarrow import fs

    check_extra("fsspec", f"{without_secrets(text)}: addresses of this kind")
    from fsspec.core import url_to_fs

    try:
        filesystem, path = url_to_fs(text, **options)
    except ImportError as error:  # the protocol needs a package of its own
        raise ImportError(f"{without_secrets(text)}: {first_line(error)}") from None
    return fs.PyFileSystem(fs.FSSpecHandler(filesystem)), path


# The files of a folder that readers may need; a folder of MOTChallenge may have pictures as well.
ENDINGS = (".parquet", ".json", ".txt", ".xml", ".ini")


class Copy(NamedTuple):
    """A file or folder of this machine, and its name in messages: what the caller wrote, without secrets.

    `temporary` says whether it was fetched, and is there only for a while.
    """

    path: Path
    name: str
    temporary: bool = False


# The copies that are kept until a command ends, by their address; None outside of a command.
_KEPT: ContextVar[tuple[dict[str, Copy], ExitStack] | None] = ContextVar("kept copies", default=None)


@contextmanager
def copies_kept() -> Iterator[None]:
    """A context at whose end the copies are removed that were made in it, so that each is made once."""
    with ExitStack() as stack:
        token = _KEPT.set(({}, stack))
        try:
            yield
        finally:
            _KEPT.reset(token)


@contextmanager
def local_copy(name: str | Path, storage: Storage | None = None) -> Iterator[Copy]:
    """A context that gives a file or folder of this machine: the one of this name, or a copy of what the name reaches.

    `name` may be an address such as s3://bucket/truth.json, begin with ~, or have wildcards (*, ?, [...], **). These
    stand for one file, or for a folder with all that matches. Errors of reading, raised within the context, name the
    file as the caller does. Raises InputError if there is nothing, or if it cannot be fetched.
    """
    if (storage is None or storage.filesystem is None) and not is_address(name):
        path = Path(os.path.expanduser(name))
        if not any(mark in str(path) for mark in "*?[") or os.path.lexists(path):
            yield Copy(path, os.fspath(name))
            return
    kept = _KEPT.get()
    with ExitStack() as stack:
        key = address_text(name)
        if kept is None:
            copy = _fetched(name, storage, stack)
        else:
            copies, until = kept
            if key not in copies:
                copies[key] = _fetched(name, storage, until)
            copy = copies[key]
        try:
            yield copy
        except InputError as error:
            inside = str(copy.path)
            raise InputError([problem.replace(inside, copy.name) for problem in error.problems]) from None


@contextmanager
def local_copies(names: Sequence[str | Path], storage: Storage | None = None) -> Iterator[list[Copy]]:
    """A context that gives a file or folder of this machine for each name, as `local_copy` does."""
    with ExitStack() as stack:
        yield [stack.enter_context(local_copy(name, storage)) for name in names]


def _link(path: str, target: Path) -> None:
    """Makes a link to a file of this machine, or a copy where no links can be made, as for most users of Windows."""
    try:
        os.symlink(path, target)
    except (OSError, NotImplementedError):
        shutil.copyfile(path, target)


def _fetched(name: str | Path, storage: Storage | None, stack: ExitStack) -> Copy:
    """A copy of what a name reaches, in a temporary folder that is removed with the stack."""
    from concurrent.futures import ThreadPoolExecutor  # imported here, as the others: little of what is read is fetched
    from tempfile import TemporaryDirectory

    from .stores import Listed, Place, bytes_of, found_at, is_local, place_of
    from .work import AT_ONCE
    from .writing import writable

    def fetch(file: Listed, target: Path) -> None:
        if is_local(file.place):
            _link(file.place.path, target)
            return
        with target.open("wb") as stream:
            for content in bytes_of(file.place):
                stream.write(content)

    place = place_of(name, storage)
    folder, files = found_at(place, ENDINGS)
    above: Place = folder or files[0].place
    parent = Path(stack.enter_context(TemporaryDirectory(prefix="spotgeo_frames-")))
    last = above.name.rstrip("/").rpartition("/")[2]  # a path may have the query of an address
    whole = parent / ("files" if last in ("", ".", "..") else last)
    inside = [file.place.path[len(above.path) :].strip("/").split("/") for file in files]
    if any(".." in parts for parts in inside):
        raise InputError(f"{place.name}: has files whose paths leave the folder")
    _check_room(place.name, sum(file.size for file in files if not is_local(file.place)))
    targets = [whole.joinpath(*parts) for parts in inside] if folder else [whole]
    if folder:
        whole.mkdir()
    with writable(parent):
        for target in targets:
            target.parent.mkdir(parents=True, exist_ok=True)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(fetch, files, targets))
    return Copy(whole, place.name, temporary=True)


def _check_room(name: str, n_bytes: int) -> None:
    """Raises InputError if a copy of this size does not fit the folder for temporary files."""
    import shutil
    from tempfile import gettempdir

    free = shutil.disk_usage(gettempdir()).free
    if n_bytes > free:
        sizes = f"{n_bytes >> 20:,} MiB, and {gettempdir()} has {free >> 20:,} MiB free"
        advice = "set TMPDIR to another folder; datasets of Parquet are evaluated where they are by score_dataset"
        raise InputError(f"{name}: cannot be fetched: it has {sizes}; {advice}")
