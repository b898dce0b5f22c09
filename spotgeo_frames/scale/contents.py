"""What a Parquet dataset holds, from the files' footers: columns, types, and the sequences of each row group.

Files that cannot be read, lack a column or have one of another type are found here, before anything is evaluated.
"""

from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ..support.errors import InputError, first_line
from ..support.reading import readable
from .files import File, files_of, open_parquet

# Footers that are read at once: over a network most of the time is spent waiting.
READERS = 8

# What a column has to hold; the keys may be integers or text, but the same in all files.
KINDS = {"frame": "integers", "x": "numbers", "y": "numbers", "w": "numbers", "h": "numbers"}
KEYS = ["sequence", "object", "joint"]

# Writers cut text in statistics, most of them after 64 bytes, and before a character that does not fit.
MOST_BYTES = 60

# What `on_error` may be.
ON_ERROR = ("raise", "skip")


class RowGroup(NamedTuple):
    """A row group: its place in the order of the dataset (the number of its file, and its own in there), its file, how
    many rows it has, and the least and the greatest sequence that it may hold.
    """

    order: tuple[int, int]
    file: File
    n_rows: int
    low: Any
    high: Any


class Gap(NamedTuple):
    """Sequences that are left out, from `low` to `high` (None: no end), and why."""

    low: Any
    high: Any
    problem: str


def gap_text(gap: Gap) -> str:
    """What is left out, and why."""
    if gap.low == gap.high and gap.low is not None:
        return f"{gap.problem}; sequence {gap.low} is left out"
    low, high = ("the first" if gap.low is None else gap.low), ("the last" if gap.high is None else gap.high)
    return f"{gap.problem}; sequences {low} to {high} are left out"


class Contents(NamedTuple):
    """One side of the evaluation: its name in messages, the path of its folder, if it is one, and its files.

    `schema` has the columns that the files have, in the types they are read as; `gaps` are left out.
    """

    name: str
    folder: str | None
    files: list[File]
    schema: pa.Schema
    groups: list[RowGroup]
    gaps: list[Gap]

    @property
    def numbered(self) -> bool:
        """Whether sequences are integers, not text."""
        return pa.types.is_integer(self.schema.field("sequence").type)

    @property
    def n_rows(self) -> int:
        return sum(group.n_rows for group in self.groups)


class _Footer(NamedTuple):
    """What one file says of itself: columns, rows and range of each row group; and what is wrong with it."""

    schema: pa.Schema
    groups: list[tuple[int, Any, Any]]
    problems: list[str]

    @property
    def n_rows(self) -> int:
        return sum(group[0] for group in self.groups)


def contents_of(source: Any, required: Sequence[str], on_error: str = "raise") -> Contents:
    """Reads the footers of a dataset: a path or URI of a file or folder, a list of files, or a pyarrow dataset.

    Raises InputError, naming the files, where some cannot be read, lack a `required` column or have one of another
    type; with `on_error="skip"` only where it cannot be told which sequences such a file holds.
    """
    name, folder, files = files_of(source)
    with ThreadPoolExecutor(READERS) as pool:
        footers = list(pool.map(_footer, files))
    footers = _judged(files, footers, required)
    problems = [problem for footer in footers for problem in footer.problems]
    good = [footer for footer in footers if not footer.problems]
    if problems and (on_error == "raise" or not good):
        raise InputError(problems)
    groups = [
        RowGroup((number, place), file, *group)
        for number, (file, footer) in enumerate(zip(files, footers, strict=True))
        if not footer.problems
        for place, group in enumerate(footer.groups)
        if group[0]
    ]
    # What has no rows need not say its types.
    schemas = [footer.schema for footer in good if footer.n_rows] or [good[0].schema]
    return Contents(name, folder, files, _unified(name, schemas), groups, _gaps(files, footers))


def _footer(file: File) -> _Footer:
    """The columns and the row groups of a file; what is wrong where it cannot be read."""
    schema = pa.schema([])
    try:
        with readable(file.place.name), open_parquet(file) as opened:
            schema = _with_partition(_plain_schema(opened.schema_arrow), file)
            if len(set(schema.names)) < len(schema.names):
                return _Footer(schema, [], [f"{file.place.name}: a column is there more than once"])
            groups = [_range(opened, file, number) for number in range(opened.num_row_groups)]
            return _Footer(schema, groups, [])
    except InputError as error:
        return _Footer(schema, [], error.problems)


def _with_partition(schema: pa.Schema, file: File) -> pa.Schema:
    """The columns of a file with those that the names of its folders add, or say otherwise."""
    for name, value in file.partition.items():
        position = schema.get_field_index(name)
        schema = schema if position < 0 else schema.remove(position)
        kind = pa.null() if value is None else pa.int64() if isinstance(value, int) else pa.string()
        schema = schema.append(pa.field(name, kind))
    return schema


def _plain_schema(schema: pa.Schema) -> pa.Schema:
    """Types as they are read: integers as int64, text as string, whatever is encoded as what it encodes."""
    fields = []
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if field.name.startswith("__index_level_"):
            continue
        if _is_text(kind):
            kind = pa.string()
        elif field.name in [*KEYS, "frame"] and (pa.types.is_integer(kind) or _is_whole(kind)):
            kind = pa.int64()
        elif field.name in KINDS and (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            kind = pa.float64()
        fields.append(pa.field(field.name, kind))
    return pa.schema(fields)


def _is_whole(kind: pa.DataType) -> bool:
    return pa.types.is_decimal(kind) and kind.scale == 0


def _is_text(kind: pa.DataType) -> bool:
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _range(opened: Any, file: File, number: int) -> tuple[int, Any, Any]:
    """The rows of a row group, and the least and the greatest sequence it may hold."""
    group = opened.metadata.row_group(number)
    if "sequence" in file.partition:
        return group.num_rows, file.partition["sequence"], file.partition["sequence"]
    names = [group.column(place).path_in_schema for place in range(group.num_columns)]
    if "sequence" not in names:
        return group.num_rows, None, None
    statistics = group.column(names.index("sequence")).statistics
    if statistics is not None and statistics.null_count:
        raise InputError(f"{file.place.name}: column sequence: some of row group {number} are null")
    if statistics is not None and statistics.has_min_max and _are_exact(statistics.min, statistics.max):
        return group.num_rows, statistics.min, statistics.max
    return group.num_rows, *_range_read(opened, number)


def _are_exact(low: Any, high: Any) -> bool:
    """Whether statistics are values of the column; text of 64 bytes may be cut, and then it is only a bound."""
    if isinstance(low, str) and isinstance(high, str):
        return max(len(low.encode()), len(high.encode())) <= MOST_BYTES
    return isinstance(low, int) and isinstance(high, int)


def _range_read(opened: Any, number: int) -> tuple[Any, Any]:
    """The least and the greatest sequence of a row group whose statistics do not tell, from the column itself."""
    found = []
    for batch in opened.iter_batches(row_groups=[number], columns=["sequence"], use_threads=False):
        column = batch.column(0).cast(_plain_schema(batch.schema).field(0).type)
        found.append(pc.min_max(column).as_py())
    bounds = [bound for bound in found if bound["min"] is not None]
    return min((bound["min"] for bound in bounds), default=None), max((bound["max"] for bound in bounds), default=None)


def _judged(files: Sequence[File], footers: Sequence[_Footer], required: Sequence[str]) -> list[_Footer]:
    """The footers with what is wrong with their columns; where keys differ, what most files have is right."""
    schemas = [footer.schema for footer in footers if not footer.problems and footer.n_rows]
    common = {
        name: Counter(str(schema.field(name).type) for schema in schemas if name in schema.names).most_common(1)
        for name in KEYS
    }
    judged = []
    for file, footer in zip(files, footers, strict=True):
        problems = list(footer.problems)
        for name in [] if problems else required:
            if name not in footer.schema.names:
                there = ", ".join(footer.schema.names) or "none"
                problems.append(f"{file.place.name}: column {name} is missing; there are {there}")
                continue
            kind = footer.schema.field(name).type
            wanted = KINDS.get(name) or _wanted(common[name][0][0] if common[name] else "")
            if not _is_of(kind, wanted) and footer.n_rows:
                verb = "are" if wanted.endswith("s") else "is"
                problems.append(f"{file.place.name}: column {name} is of type {kind}; {wanted} {verb} needed")
        if not problems and any(rows and low is None for rows, low, _ in footer.groups):
            problems.append(f"{file.place.name}: column sequence: some rows are null")
        judged.append(footer._replace(problems=problems))
    return judged


def _wanted(common: str) -> str:
    return common if common in ("int64", "string") else "int64 or string"


def _is_of(kind: pa.DataType, wanted: str) -> bool:
    match wanted:
        case "integers":
            return pa.types.is_integer(kind)
        case "numbers":
            return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        case _:
            return str(kind) == wanted


def _unified(name: str, schemas: Sequence[pa.Schema]) -> pa.Schema:
    """The columns that any file has, in types wide enough for all of them."""
    try:
        return pa.unify_schemas(list(schemas), promote_options="permissive")
    except pa.ArrowException as error:
        raise InputError(f"{name}: its files do not fit together: {first_line(error)}") from None


def _gaps(files: Sequence[File], footers: Sequence[_Footer]) -> list[Gap]:
    """The sequences of the files that are skipped; raises InputError where it cannot be told which they are.

    A file that does not say lies between its neighbours, if all files are in the order of their sequences.
    """
    kinds = {type(group[1]) for footer in footers if not footer.problems for group in footer.groups if group[0]}
    ranges = [_file_range(file, footer, kinds) for file, footer in zip(files, footers, strict=True)]
    in_order = all(before[1] <= after[0] for before, after in pairwise([found for found in ranges if found]))
    gaps = []
    for number, (footer, found) in enumerate(zip(footers, ranges, strict=True)):
        if not footer.problems:
            continue
        if found is None and not in_order:
            what = "it cannot be skipped, since nothing tells which sequences it holds; take it out, or mend it"
            raise InputError([f"{problem}; {what}" for problem in footer.problems])
        if found is None:
            before = next((before[1] for before in ranges[number::-1] if before), None)
            after = next((after[0] for after in ranges[number:] if after), None)
            found = before, after
        gaps.append(Gap(*found, "; ".join(footer.problems)))
    return gaps


def _file_range(file: File, footer: _Footer, kinds: set[type]) -> tuple[Any, Any] | None:
    """The least and the greatest sequence of a file, where it tells; `kinds` are the types that sequences have."""
    bounds = [(low, high) for rows, low, high in footer.groups if rows]
    if "sequence" in file.partition:
        bounds = [(file.partition["sequence"], file.partition["sequence"])]
    if not bounds or any(type(low) not in kinds for low, _ in bounds):
        return None
    return min(low for low, _ in bounds), max(high for _, high in bounds)
