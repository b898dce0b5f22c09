"""Writes the folder of Parquet behind a page, with its README."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from ....matching.rule import Rule
from ....support.errors import InputError
from ....support.reading import readable
from ....support.writing import Write, table_files, text_file
from ..html.blocks import Section
from ..sections import SECTIONS
from .readme import TITLE, readme_of

# The files that a report may write to its folder of tables, as patterns of names.
WRITTEN = (
    "README.md",
    "by_*.parquet",
    *(f"{name}.parquet" for module in SECTIONS for name in getattr(module, "TABLES", {})),
)


def earlier_tables(folder: Path) -> list[str]:
    """The names of the tables that an earlier report has written to a folder, by the README there.

    Raises InputError if there is a README that no report wrote.
    """
    readme = folder / "README.md"
    with readable(readme):
        if not readme.exists():
            return []
        lines = [] if readme.is_symlink() else readme.read_text("utf-8", "replace").splitlines()
    if lines[:1] != [TITLE]:
        raise InputError(f"{readme}: no report wrote this file; give the tables a folder of their own")
    return [name[1] for line in lines if (name := re.fullmatch(r"## (.+)\.parquet", line))]


def files(sections: Sequence[Section], rule: Rule, folder: Path, notes: Mapping[str, str]) -> dict[Path, Write | None]:
    """What writes each file of a folder, for `write_together`: the tables of all sections, and their README.

    Tables of an earlier report that this one lacks are removed. `notes` go into the metadata of each table.
    """
    kept = {name: table for section in sections for name, table in section.tables.items()}
    outdated = (folder / f"{name}.parquet" for name in earlier_tables(folder) if name not in kept)
    return {
        **dict.fromkeys(path for path in outdated if path.parent == folder and path.is_file()),
        **table_files({name: table for name, (table, _) in kept.items()}, folder, notes),
        folder / "README.md": text_file(readme_of(kept, rule, notes)),
    }
