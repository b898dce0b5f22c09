"""The version of this package, its extras, and what other installed packages add to it.

A package names what it adds in its entry points (https://packaging.python.org/specifications/entry-points): a group, a
name, and the object in its modules. Nothing of a package is imported before its name is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from .errors import InputError, check_memory, first_line
from .version import __version__ as __version__

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

# The modules that each extra brings; pyproject.toml names the packages.
EXTRAS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "plots": ("matplotlib",),
        "parallel": ("loky", "cloudpickle"),
        "posetrack": ("shapely",),
        "masks": ("pycocotools",),
        "dask": ("distributed",),
        "charts": ("altair", "vl_convert"),
        "fsspec": ("fsspec",),
        "report": ("jinja2", "vl_convert", "markdown_it", "PIL"),
        "widget": ("anywidget", "PIL"),
        "yolo": ("PIL", "yaml"),
        "video": ("matplotlib", "PIL", "av"),
        "completion": ("shtab",),
    }
)


def check_extra(extra: str, needed_by: str, only: str | None = None) -> None:
    """Raises ImportError, which says what to install, if a module of an extra cannot be imported.

    Messages begin with `needed_by`: what needs the extra. `only` names the module where the others are not needed.
    """
    missing = [name for name in EXTRAS[extra] if only in (None, name) and not _can_import(name)]
    if missing:
        how = f"pip install 'spotgeo_frames[{extra}]' (in its source folder: pip install '.[{extra}]')"
        raise ImportError(f"{needed_by}: {', '.join(missing)} cannot be imported; install the extra: {how}")


def _can_import(name: str) -> bool:
    """Whether a module can be imported."""
    try:
        import_module(name)
    except ImportError:
        return False
    return True


class Added(NamedTuple):
    """What a package adds under a name: the object, and the name of the package for messages."""

    value: Any
    package: str


def entry_point(group: str, name: str) -> Added | None:
    """What an installed package adds to a group under this name; None if no package does.

    Raises InputError, naming the package, if it cannot be loaded, or if two packages add the same name; also if the
    metadata of any package is damaged, since then none can be looked up.
    """
    from importlib.metadata import entry_points  # takes a while, and most names are known without it

    try:
        found = [*entry_points(group=group, name=name)]
    except Exception as error:  # of a parser that trusts what it reads
        check_memory(error, group)
        what = f"{group}: {name} cannot be looked up, since the metadata of an installed package is damaged"
        raise InputError(f"{what}: {type(error).__name__}: {first_line(error)}") from error
    if not found:
        return None
    packages = sorted({_package_of(entry) for entry in found})
    if len({entry.value for entry in found}) > 1:
        raise InputError(f"{group}: {name} is added by several packages, {' and '.join(packages)}; keep one of them")
    try:
        value = found[0].load()
    except (Exception, SystemExit) as error:  # what the package's own modules raise
        raise package_failure(packages[0], f"{group}: {name} ({found[0].value}) cannot be loaded", error) from error
    return Added(value, packages[0])


def _package_of(entry: EntryPoint) -> str:
    """The name of the package that an entry point is of; without one, the object that it names."""
    try:
        return (entry.dist and entry.dist.name) or entry.value
    except KeyError:  # Python 3.11 has None for a package without a name, later versions and importlib_metadata raise
        return entry.value


def package_failure(package: str, what: str, error: BaseException) -> InputError:
    """The error for what the code of a package raised; if memory ran out, raises MemoryError."""
    check_memory(error, f"package {package}: {what}")
    return InputError(f"package {package}: {what}: {type(error).__name__}: {first_line(error)}")
