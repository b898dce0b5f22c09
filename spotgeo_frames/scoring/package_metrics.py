"""Metrics that other installed packages add, by entry points of the group `spotgeo_frames.metrics`.

The name of an entry point is that of the metric, and its object a dict of the other arguments of `metric()`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..support.errors import InputError
from ..support.packages import entry_point, package_failure
from .own_metrics import known_metrics, metric

GROUP = "spotgeo_frames.metrics"
ARGUMENTS = ("sums", "value", "unit", "higher_is_better")


def add_metrics_of_packages(names: Iterable[Any]) -> None:
    """Adds those of the named metrics that are not known and that an installed package has.

    Raises InputError, naming the package, if it is not right; a name that no package has is left to the caller.
    """
    known = known_metrics()
    for name in names:
        if isinstance(name, str) and name.isidentifier() and name not in known:
            _add(name)


def _add(name: str) -> None:
    """Adds the metric of this name if a package has it."""
    added = entry_point(GROUP, name)
    if added is None:
        return
    place = f"package {added.package}: {GROUP}: {name}"
    given = added.value
    if not isinstance(given, Mapping) or not {"sums", "value"} <= given.keys() <= {*ARGUMENTS}:
        raise InputError(f"{place} has to be a dict of the arguments of metric(): {', '.join(ARGUMENTS)}")
    try:
        metric(name, **given)
    except InputError as error:
        raise InputError([f"package {added.package}: {problem}" for problem in error.problems]) from None
    except Exception as error:
        raise package_failure(added.package, f"{GROUP}: {name}", error) from error
