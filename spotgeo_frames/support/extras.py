"""The extras of the package: what they install, and what to say where one is missing."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType

# The modules that each extra brings; pyproject.toml names the packages.
EXTRAS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "plots": ("matplotlib",),
        "parallel": ("loky", "cloudpickle"),
        "posetrack": ("shapely",),
        "dask": ("distributed",),
        "charts": ("altair",),
        "fsspec": ("fsspec",),
        "report": ("altair", "jinja2", "vl_convert", "PIL"),
        "widget": ("anywidget", "PIL"),
        "yolo": ("PIL", "yaml"),
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
