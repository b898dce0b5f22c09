"""Addresses of files and folders, such as s3://bucket/folder: which file system each is on, and its path there.

Names in addresses are taken as they are, as other tools take them: a space is a space, and %20 is none. Only after
file:// and in a user name, a password and a query, %20 stands for a space. A query begins with the first ?.

pyarrow reaches S3, Google's storage, Azure's, HDFS and the local disk. fsspec, an extra, reaches what pyarrow does not
know, such as http. Options have the names that fsspec's file systems give them, for S3 too.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
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
