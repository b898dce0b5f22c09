"""Fails where a file is too large to keep, or where a text has what nobody wants: a hook of .pre-commit-config.yaml.

It takes the names of files, and prints each problem with its file and line.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

# The largest file of the project is a notebook with its pictures, of 300,000 bytes.
MOST_BYTES = 2_000_000

# The endings of files that are no text, or have no lines that people write.
NO_TEXT = {".parquet", ".png", ".jpg", ".zip", ".gz", ".ico", ".svg"}

WRONG = {
    "is a leftover of a merge": re.compile(r"^(<<<<<<<|>>>>>>>) "),
    "ends with spaces": re.compile(r"[ \t]$"),
    "ends as lines of Windows do": re.compile(r"\r$"),
}


def problems(path: Path) -> Iterator[str]:
    """What is wrong with a file."""
    if path.stat().st_size > MOST_BYTES:
        yield f"{path}: has more than {MOST_BYTES:,} bytes"
    if path.suffix in NO_TEXT:
        return
    text = path.read_bytes().decode("utf-8", "replace")
    for number, line in enumerate(text.split("\n"), start=1):
        yield from (f"{path}:{number}: {what}" for what, pattern in WRONG.items() if pattern.search(line))
    if text and not text.endswith("\n"):
        yield f"{path}: does not end with a line feed"


if __name__ == "__main__":
    found = [problem for name in sys.argv[1:] for problem in problems(Path(name))]
    sys.exit("\n".join(found) or None)
