"""Reads the footers of a Parquet dataset: columns, types, and the range of sequences of each row group.

Files that cannot be read, that lack a column, or whose column has another type are reported before any evaluation.
"""

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from ..support import InputError, Place, Storage, check_memory, first_line, reading, stores, work
from ..tables import key_values, other_words, schema
from .files import (
    FIRST,
    KEPT_OF_DATASET,
    LAST,
    File,
    FileState,
    Footer,
    Gap,
    OpenedFiles,
    RowGroup,
    footer_of,
    tail_digest,
)
from .listing import files_of

# The values that a column must have. Keys may be integers or text, but the same in all files.
KINDS = {"frame": "integers", "x": "numbers", "y": "numbers", "w": "numbers", "h": "numbers"}
KINDS |= dict.fromkeys(schema.TEXT_OF_GEOMETRIES, "text")
KEYS = ["sequence", "object", "joint"]

# Writers cut long text in statistics, most of them at 64 bytes, or a little before to keep the last character whole.
MOST_BYTES = 60

# The most rows of the column `sequence` that are read at once, for lack of statistics.
BATCH_ROWS = 1 << 16

# What is said of a file or a row group that was to be skipped.
CANNOT_SKIP = "it cannot be skipped, since nothing tells which sequences it holds; take it out, or mend it"

# The values of `on_error`.
ON_ERROR = ("raise", "skip")


class Contents(NamedTuple):
    """The dataset of one side: its name in messages, its files, and its folder unless it is given as files.

    `schema` has the columns of all files, with the types to read them as. `groups` are the row groups, and `gaps` the
    sequences to leave out because of files that cannot be read.
    """

    name: str
    folder: str | None
    files: list[File]
    schema: pa.Schema
    groups: list[RowGroup]
    gaps: list[Gap]

    @property
    def places(self) -> list[Place]:
        """The folder of the dataset, unless it is given as files, and its files."""
        places = [file.place for file in self.files]
        folder = [] if self.folder is None or not places else [Place(places[0].filesystem, self.folder, self.name)]
        return folder + places

    @property
    def numbered(self) -> bool:
        """Whether sequences are integers, not text."""
        return pa.types.is_integer(self.schema.field("sequence").type)

    @property
    def n_rows(self) -> int:
        return sum(group.n_rows for group in self.groups)


def check_outside(out: Place, dataset: Contents) -> None:
    """Raises InputError if a folder lies in the folder of a dataset."""
    if any(stores.is_inside(out, place) for place in dataset.places):
        raise InputError(f"{out.name}: is in the folder of {dataset.name}, an input; give one elsewhere")


class _Columns(NamedTuple):
    """The columns of a file, the types to read them as, and the positions of those of the key of a frame."""

    there: pa.Schema
    plain: pa.Schema
    positions: dict[str, int]


class _Footer(NamedTuple):
    """The footer of one file: its columns, rows and ranges of each row group, and the problems with the file.

    `digest` is its SHA-256, empty if it cannot be read. `parsed` is the footer itself, None if it cannot be read.
    """

    schema: pa.Schema
    groups: list[tuple[int, Any, Any, int, int]]
    problems: list[str]
    digest: str = ""
    parsed: Footer | None = None

    @property
    def n_rows(self) -> int:
        return sum(group[0] for group in self.groups)


def contents_of(
    source: Any, required: Sequence[str], on_error: str = "raise", storage: Storage | None = None
) -> Contents:
    """Reads the footers of a dataset: a path or URI of a file or folder, a list of files, or a pyarrow dataset.

    `storage` says how to reach an address.
    Raises InputError, naming the files, if one cannot be read, lacks a `required` column, or has one of another type.
    With `on_error="skip"` such files become gaps; it then raises only if the range of their sequences is unknown.
    """
    name, folder, files = files_of(source, storage)
    files, footers = _footers(files)
    footers = _judged(files, footers, required)
    problems = [problem for footer in footers for problem in footer.problems]
    good = [footer for footer in footers if not footer.problems]
    if problems and (on_error == "raise" or not good):
        raise InputError(problems)
    groups = [
        RowGroup((file_position, position), file, *group)
        for file_position, (file, footer) in enumerate(zip(files, footers, strict=True))
        if not footer.problems
        for position, group in enumerate(footer.groups)
        if group[0]
    ]
    # The types of files without rows do not matter.
    schemas = [footer.schema for footer in good if footer.n_rows] or [good[0].schema]
    schemas = [*{id(schema): schema for schema in schemas}.values()]  # most files share one
    return Contents(name, folder, files, _unified(name, schemas), groups, _gaps(files, footers))


def _footers(files: Sequence[File]) -> tuple[list[File], list[_Footer]]:
    """The files, which tell the states of their footers, and the footers; the first ones are kept.

    If a file is replaced meanwhile, that is noticed after it was read.
    """
    found, footers, left = list[File](), list[_Footer](), KEPT_OF_DATASET
    at_a_time = work.FEW if files and stores.is_local(files[0].place) else 1
    for file, footer in zip(files, work.each(_read, files, at_a_time=at_a_time), strict=True):
        left -= 0 if footer.parsed is None else footer.parsed.metadata.serialized_size
        state, kept = FileState(*file.state[:2], footer.digest), footer.parsed if left >= 0 else None
        found.append(File(file.place, state, file.partition, file.folder, kept))
        footers.append(footer._replace(parsed=None))
    return found, footers


def _read(files: Sequence[File]) -> list[_Footer]:
    """The footers of files; the problems of those that cannot be read. Most files have the same columns."""
    opened, columns, found = OpenedFiles(), None, list[_Footer]()
    for file in files:
        footer, schema = None, pa.schema([])
        try:
            with reading.readable(file.place.name):
                footer = footer_of(file)
                columns = _columns(footer, columns)
                schema = _with_partition(columns.plain, file)
                kept = file._replace(kept=footer._replace(schema=columns.there))
                found.append(_footer(opened, kept, schema, columns.positions))
        except InputError as error:
            digest = "" if footer is None else footer.digest
            if not digest and stores.is_local(file.place):
                digest = tail_digest(file.place)
            found.append(_Footer(schema, [], error.problems, digest))
    return found


def _footer(opened: OpenedFiles, file: File, schema: pa.Schema, columns: dict[str, int]) -> _Footer:
    """The footer of a file whose columns are read as those of a schema; `columns` are the positions of its key."""
    footer = opened.footer(file)
    if len(set(schema.names)) < len(schema.names):
        return _Footer(schema, [], [f"{file.place.name}: a column is there more than once"], footer.digest)
    positions = range(footer.metadata.num_row_groups)
    groups = [_group(opened, file, position, columns) for position in positions]
    return _Footer(schema, groups, [], footer.digest, footer)


def _with_partition(schema: pa.Schema, file: File) -> pa.Schema:
    """The columns of a file with those of its hive partition, which go before columns of the same name."""
    for name, value in file.partition.items():
        position = schema.get_field_index(name)
        schema = schema if position < 0 else schema.remove(position)
        kind = pa.null() if value is None else pa.int64() if isinstance(value, int) else pa.string()
        schema = schema.append(pa.field(name, kind))
    return schema


def _plain_schema(schema: pa.Schema) -> pa.Schema:
    """The types to read columns as: keys int64 or text, text string, coordinates float64, dictionaries their values.

    Keys that are floats have to be whole numbers, as `check_objects` has it, and dates become text.
    """
    return _plain_types(schema.remove_metadata())  # with which older versions of pyarrow cannot hash it


@lru_cache(64)
def _plain_types(schema: pa.Schema) -> pa.Schema:
    """The same of a schema without metadata; kept, since many files share it."""
    fields = []
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if field.name.startswith("__index_level_"):
            continue
        if _is_text(kind) or (field.name in KEYS and key_values.is_date(kind)):
            kind = pa.string()
        elif field.name in [*KEYS, "frame"] and (pa.types.is_integer(kind) or key_values.may_be_whole(kind)):
            kind = pa.int64()
        elif _kind_of(field.name) and (pa.types.is_floating(kind) or pa.types.is_integer(kind)):
            kind = pa.float64()
        fields.append(pa.field(field.name, kind))
    return pa.schema(fields)


def _is_text(kind: pa.DataType) -> bool:
    """Whether a type is one of Arrow's types of text."""
    return pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)


def _columns(footer: Footer, before: _Columns | None) -> _Columns:
    """The columns of a file; those of the file `before` if they are the same, which is the usual case."""
    if before is not None and before.there.equals(footer.schema):
        return before
    described = footer.metadata.schema
    paths = (described.column(position).path for position in range(len(described)))
    positions = {path: position for position, path in enumerate(paths) if path in ("sequence", "frame")}
    return _Columns(footer.schema, _plain_schema(footer.schema), positions)


def _group(opened: OpenedFiles, file: File, position: int, columns: dict[str, int]) -> tuple[int, Any, Any, int, int]:
    """How many rows a row group has, the least and the greatest sequence that it may have, and the frames of these.

    Frames are known only where there is one sequence.
    """
    group = opened.footer(file).metadata.row_group(position)
    low, high = _range(opened, file, group, position, columns.get("sequence"))
    if "sequence" in file.partition:
        value = file.partition["sequence"]
        if low is not None and not (_is_value(low, value) and _is_value(high, value)):
            problem = f"holds sequences {low} to {high}, but the name of its folder says sequence={value}"
            raise InputError(f"{file.place.name}: {problem}; write it to the folders of its sequences")
        low = high = value
    frames = FIRST, LAST
    if low == high and "frame" in columns and "frame" not in file.partition:
        statistics = group.column(columns["frame"]).statistics
        if statistics is not None and statistics.has_min_max and isinstance(statistics.min, int):
            frames = statistics.min, statistics.max
    return group.num_rows, low, high, *frames


def _is_value(sequence: Any, value: Any) -> bool:
    """Whether a sequence is the value in the name of a folder, where 3 may be written 03."""
    is_number = isinstance(sequence, str) and isinstance(value, int) and sequence.isdecimal()
    return bool((int(sequence) if is_number else sequence) == value)


def _range(opened: OpenedFiles, file: File, group: Any, position: int, column: int | None) -> tuple[Any, Any]:
    """The least and the greatest sequence that a row group may have; None if it has no such column."""
    if column is None:
        return None, None
    statistics = group.column(column).statistics
    if statistics is not None and statistics.null_count:
        raise InputError(f"{file.place.name}: column sequence: some of row group {position} are null")
    if statistics is not None and statistics.has_min_max and _are_exact(statistics.min, statistics.max):
        return statistics.min, statistics.max
    return _range_read(opened, file, position)


def _are_exact(low: Any, high: Any) -> bool:
    """Whether statistics are real values of the column; long text may be cut, and is then only a bound."""
    if isinstance(low, str) and isinstance(high, str):
        return max(len(low.encode()), len(high.encode())) <= MOST_BYTES
    return isinstance(low, int) and isinstance(high, int)


def _range_read(opened: OpenedFiles, file: File, position: int) -> tuple[Any, Any]:
    """The least and the greatest sequence of a row group, read from the column itself, for lack of statistics."""
    ranges = []
    for batch in opened.batches(file, position, ["sequence"], BATCH_ROWS):
        column = pc.unique(batch.column(0))
        try:
            column = key_values.arrow_key(column, _plain_schema(batch.schema).field(0).type)
        except pa.ArrowInvalid as error:
            raise InputError(f"{file.place.name}: column sequence: {first_line(error)}") from None
        ranges.append(pc.min_max(column).as_py())
    bounds = [bound for bound in ranges if bound["min"] is not None]
    return min((bound["min"] for bound in bounds), default=None), max((bound["max"] for bound in bounds), default=None)


def _judged(files: Sequence[File], footers: Sequence[_Footer], required: Sequence[str]) -> list[_Footer]:
    """The footers with the problems of their columns; the type that most files have for a key is taken as right."""
    schemas = [footer.schema for footer in footers if not footer.problems and footer.n_rows]
    common = {
        name: Counter(str(schema.field(name).type) for schema in schemas if name in schema.names).most_common(1)
        for name in KEYS
    }
    judged: list[_Footer] = []
    right: pa.Schema | None = None  # the columns of the last file that nothing is wrong with, which others share
    for file, footer in zip(files, footers, strict=True):
        problems = list(footer.problems)
        has_null = any(rows and low is None for rows, low, *_ in footer.groups)
        if not problems and footer.schema is right and not has_null:
            judged.append(footer)
            continue
        for name in [] if problems else _needed(required, footer.schema.names):
            if name not in footer.schema.names:
                there = ", ".join(footer.schema.names) or "none"
                why = other_words.way_out(f"there are {there}", footer.schema.names, name)
                problems.append(f"{file.place.name}: column {name} is missing; {why}")
                continue
            kind = footer.schema.field(name).type
            wanted = _kind_of(name) or _wanted(common[name][0][0] if common.get(name) else "")
            if not _is_of(kind, wanted) and footer.n_rows:
                verb = "are" if wanted.endswith("s") else "is"
                problems.append(f"{file.place.name}: column {name} is of type {kind}; {wanted} {verb} needed")
        if not problems and has_null:
            problems.append(f"{file.place.name}: column sequence: some rows are null")
        right = footer.schema if footer.n_rows and not problems else right
        judged.append(footer._replace(problems=problems))
    return judged


def _needed(required: Sequence[str], names: Sequence[str]) -> list[str]:
    """The required columns of a file with these; those of a place are those of its geometry, if it has its own."""
    own = schema.geometry_name(names)
    if own is None or not {"x", "y"} <= {*required} or "joint" in required:
        return list(required)
    if "w" in required and own not in schema.BUILT_IN_COLUMNS:  # a similarity of boxes
        return list(required)
    return [*(name for name in required if name not in schema.BOX), *schema.GEOMETRY_COLUMNS[own]]


def _kind_of(name: str) -> str | None:
    """What a column must have, "integers" or "numbers"; None where that depends."""
    of_geometry = any(name in columns for columns in schema.GEOMETRY_COLUMNS.values())
    return KINDS.get(name, "numbers" if of_geometry else None)


def _wanted(common: str) -> str:
    """The type that a key must have, if `common` is the most frequent one."""
    return common if common in ("int64", "string") else "int64 or string"


def _is_of(kind: pa.DataType, wanted: str) -> bool:
    """Whether a type is the wanted one: "integers", "numbers", "text", or the name of a type."""
    match wanted:
        case "integers":
            return pa.types.is_integer(kind)
        case "numbers":
            return pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
        case "text":
            return pa.types.is_string(kind) or pa.types.is_large_string(kind)
        case _:
            return str(kind) == wanted


def _unified(name: str, schemas: Sequence[pa.Schema]) -> pa.Schema:
    """The columns that occur in any file, with types wide enough for all files."""
    try:
        return pa.unify_schemas(list(schemas), promote_options="permissive")
    except pa.ArrowException as error:
        check_memory(error, name)
        raise InputError(f"{name}: its files do not fit together: {first_line(error)}") from None


def _gaps(files: Sequence[File], footers: Sequence[_Footer]) -> list[Gap]:
    """The ranges of sequences of the files that are skipped; raises InputError if one is unknown.

    If all files are in the order of their sequences, a file of unknown range lies between its neighbours.
    """
    kinds = {type(group[1]) for footer in footers if not footer.problems for group in footer.groups if group[0]}
    ranges = [_file_range(file, footer, kinds) for file, footer in zip(files, footers, strict=True)]
    in_order = all(before[1] <= after[0] for before, after in pairwise([known for known in ranges if known]))
    gaps = []
    for position, (footer, bounds) in enumerate(zip(footers, ranges, strict=True)):
        if not footer.problems:
            continue
        if bounds is None and not in_order:
            raise InputError([f"{problem}; {CANNOT_SKIP}" for problem in footer.problems])
        if bounds is None:
            before = next((before[1] for before in ranges[position::-1] if before), None)
            after = next((after[0] for after in ranges[position:] if after), None)
            bounds = before, after
        gaps.append(Gap(*bounds, "; ".join(footer.problems)))
    return gaps


def _file_range(file: File, footer: _Footer, kinds: set[type]) -> tuple[Any, Any] | None:
    """The least and the greatest sequence of a file, None if unknown; `kinds` are the types of sequences."""
    bounds = [(low, high) for rows, low, high, *_ in footer.groups if rows]
    if "sequence" in file.partition:
        bounds = [(file.partition["sequence"], file.partition["sequence"])]
    if not bounds or any(type(low) not in kinds for low, _ in bounds):
        return None
    return min(low for low, _ in bounds), max(high for _, high in bounds)
