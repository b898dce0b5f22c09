"""The metrics of tracks that are computed on request: which there are, their sums, and the set of metrics with them.

Metrics that share sums are a family, which is asked for by its name or by that of one of its metrics: "siap", "vace",
"ideucl", and "ospa2_10", OSPA(2) over windows of 10 frames, or of any other count. A table `sums` tells by its columns
which of them were asked for, so whatever is made of such tables has their metrics, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial

import numpy as np

from ..matching import Aligned, Pairs, Rule, join_pairs
from ..scoring import Metric, MetricSet, NamedSums
from ..support import InputError
from .identities import Tracks
from .metrics.clear import LEAST_SIMILARITY
from .metrics.ideucl import IDEUCL_SUMS, ideucl_parts
from .metrics.ospa2 import ospa2_sums
from .metrics.siap import OF_DISTANCES, SIAP_SUMS, siap_parts
from .metrics.vace import VACE_SUMS, vace_parts
from .registry import IDEUCL_METRICS, ON_REQUEST, OSPA2, SIAP_METRICS, VACE_METRICS, known_metric, ospa2_metric

# The families, and the metrics of each.
FAMILIES = {"siap": SIAP_METRICS, "vace": VACE_METRICS, "ideucl": IDEUCL_METRICS}

# The sums of each family; the last one of SIAP is there only after matching by distance.
SUMS = {"siap": (*SIAP_SUMS, OF_DISTANCES), "vace": VACE_SUMS, "ideucl": IDEUCL_SUMS}

# Sums of a whole sequence, which each class of it has, whether it has an object there or not.
OF_SEQUENCES = ("n_frames", "ideucl_sequences")

HOW = "'siap', 'vace', 'ideucl', 'ospa2_10' (over windows of 10 frames), or the name of one of their metrics"


def families_of(metrics: str | Iterable[str] | None) -> list[str]:
    """The families of the metrics that were asked for, each once; raises ValueError for an unknown one."""
    names = [metrics] if isinstance(metrics, str) else list(metrics or ())
    return list(dict.fromkeys(_family(name) for name in names))


def _family(name: object) -> str:
    """The family of this name, or of the metric of this name."""
    if isinstance(name, str):
        if name in FAMILIES or OSPA2.fullmatch(name):
            return name
        for family, metrics in FAMILIES.items():
            if name in metrics:
                return family
    raise ValueError(f"metrics: {name!r} is no metric of tracks on request; there are {HOW}")


def families_among(names: Iterable[str]) -> list[str]:
    """The families of those of the names that are metrics on request."""
    return families_of(metrics_on_request(names))


def metrics_on_request(columns: Iterable[str]) -> list[str]:
    """The columns that are metrics on request."""
    return [name for name in map(str, columns) if name in ON_REQUEST or OSPA2.fullmatch(name)]


def on_request_text(name: object) -> str:
    """The end of a message about this name, which says how a metric on request is asked for; empty for any other."""
    is_such = isinstance(name, str) and bool(families_among([name]))
    return f"; track(..., metrics=[{name!r}]) computes it, of each submission" if is_such else ""


def requested_numbers(sums: NamedSums, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Those of the named metrics that are metrics on request, from sums."""
    asked = {name: known_metric(name) for name in metrics_on_request(names)}
    return {name: entry.value(sums) for name, entry in asked.items() if entry is not None and entry.value is not None}


def parts_of(
    families: Sequence[str], aligned: Aligned, tracks: Tracks, chunks: Iterable[Pairs], rule: Rule
) -> dict[str, np.ndarray]:
    """The sums of these families by sequence; `aligned` are the sides before classes were laid out apart.

    `chunks` have all pairs with a similarity above 0, chunk by chunk. Raises InputError if a family does not fit the
    rule.
    """
    if not families:
        return {}
    tau = rule.tau if rule.geometry.is_distance else None
    near = join_pairs([chunk.take(np.flatnonzero(chunk.measure >= LEAST_SIMILARITY)) for chunk in chunks])
    computed = {
        "siap": partial(siap_parts, tracks, near, tau),
        "vace": partial(vace_parts, tracks, near, chunks),
        "ideucl": partial(ideucl_parts, tracks, chunks, rule),
    }
    sums: dict[str, np.ndarray] = {}
    for family in families:
        if family in computed:
            sums |= computed[family]()
            continue
        if tau is None:
            problem = f"{family} is made of distances, and tracks are matched by the similarity {rule.name!r}"
            raise InputError(f"metrics: {problem}; give tau (px), which matches points, or the centres of boxes")
        size = int(family.removeprefix("ospa2_"))
        sums[family] = ospa2_sums(aligned, tracks, near, tau, size)
    return sums


def sums_among(names: Iterable[str]) -> list[str]:
    """The sums of metrics on request that are among these names, in the order of the families."""
    there = [*names]
    known = [name for of_family in SUMS.values() for name in of_family if name in there]
    return [*known, *(name for name in there if isinstance(name, str) and OSPA2.fullmatch(name))]


def with_requested(metrics: MetricSet, sums: Iterable[str]) -> MetricSet:
    """The metrics of tracks, and those that follow from sums on request with these names."""
    found = sums_among(sums)
    if not found:
        return metrics
    entries: dict[str, Metric] = {}
    for family, names in SUMS.items():
        if names[0] in found:
            entries |= FAMILIES[family]
    if OF_DISTANCES not in found:
        entries.pop("positional_accuracy", None)
    entries |= {name: ospa2_metric(name) for name in found if OSPA2.fullmatch(name)}
    make, _ = metrics.again or (None, ())
    again = None if make is None else (make, (tuple(found),))
    return metrics._replace(entries={**metrics.entries, **entries}, again=again)
