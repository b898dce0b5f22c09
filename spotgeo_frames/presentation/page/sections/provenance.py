"""The provenance of a report: the files that were read, with digests, the rule, and the versions of packages."""

import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from ....matching.rule import Rule
from ....support.packages import __version__
from ....support.texts import name_as_text
from ....tables.annotations import Annotations
from ....tables.inputs import Input
from ...drawing.rule_texts import rule_fields


def made_with(
    inputs: Sequence[Input],
    rule: Rule,
    exclude: Sequence[int | str],
    truth: Annotations,
    unlabelled: Mapping[str, int],
) -> list[tuple[str, str]]:
    """The labels and values of the page's footer.

    `unlabelled` is how many predictions of each submission were left out since they lie in no frame of the truth; empty
    where all count.
    """
    from importlib import metadata  # imported here, because it is slow to import and only needed here

    files = [
        (
            file.role,
            f"{name_as_text(file.path.name)}{file.remark}"
            + ("" if file.sha256 is None else f", SHA-256 {file.sha256}"),
        )
        for file in inputs
    ]
    packages = ("numpy", "pandas", "scipy", "pyarrow", "altair")
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in packages)
    return [
        *(files or [("inputs", "tables in memory")]),
        *rule_fields(rule),
        ("left out", ", ".join(map(str, exclude)) or "no sequence"),
        ("frames that count", _frames_that_count(truth, unlabelled)),
        ("versions", f"spotgeo_frames {__version__}, Python {platform.python_version()}, {versions}"),
        ("date", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
    ]


def _frames_that_count(truth: Annotations, unlabelled: Mapping[str, int]) -> str:
    """Which frames count, and how many predictions that leaves out."""
    if not unlabelled:
        return "all that the truth lists" if truth.frames is not None else "all with a truth or a prediction"
    counts = ", ".join(f"{count:,} of {name}" for name, count in unlabelled.items())
    return f"all that the truth has; predictions left out in others: {counts}"
