"""What a report was made with: the files its tables came from, as they were when they were read, and all else."""

import platform
from collections.abc import Sequence
from datetime import UTC, datetime

from ...matching.rule import Rule
from ...support.labels import label
from ...support.names import text_name
from ...support.version import __version__
from ...tables.annotations import Annotations
from ...tables.inputs import Input


def made_with(
    inputs: Sequence[Input], rule: Rule, exclude: Sequence[int | str], truth: Annotations
) -> list[tuple[str, str]]:
    """Labels and values of the page's foot."""
    from importlib import metadata  # takes a while, and nothing else needs it

    files = [
        (one.role, f"{text_name(one.path)}{one.remark}" + ("" if one.sha256 is None else f", SHA-256 {one.sha256}"))
        for one in inputs
    ]
    packages = ("numpy", "pandas", "scipy", "pyarrow", "altair")
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in packages)
    return [
        *(files or [("inputs", "tables in memory")]),
        ("tau", f"{label(rule.tau)} px"),
        ("epsilon", f"{label(rule.epsilon)} px"),
        ("left out", ", ".join(map(str, exclude)) or "no sequence"),
        (
            "frames that count",
            "all that the truth lists" if truth.frames is not None else "all in which there is something",
        ),
        ("versions", f"spotgeo_frames {__version__}, Python {platform.python_version()}, {versions}"),
        ("date", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
    ]
