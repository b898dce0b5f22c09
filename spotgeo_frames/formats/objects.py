"""Tables of objects from Parquet (a file, or a folder of files), CSV, Arrow files, and tables in memory."""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import redirect_stdout
from functools import partial
from io import BytesIO, TextIOWrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from ..support import InputError, Storage, addresses, pandas_tables, reading
from ..tables import (
    Annotations,
    Table,
    TableKind,
    arrow,
    checks,
    collected,
    other_words,
    provenance,
    schema,
    table_kinds,
    tidy,
)

if TYPE_CHECKING:
    from .any_file import Needed

# Chooses the columns to read of those of these names; None reads all.
Wanted = Callable[[Sequence[str]], list[str] | None]

# A wider table holds features or embeddings, which are read only where somebody asks for them by name.
MOST_CARRIED = 1000

# The type of a column that is not read, whose text takes no memory.
DROPPED = pa.dictionary(pa.int32(), pa.string())

# The columns that are always numbers.
NUMBERS = {*schema.OBJECT_COLUMNS} - {*schema.NAMING_COLUMNS}

# Text that looks like a number, but names something: 007. It may be in a CSV only where the second pattern is.
LEADING_ZEROS, MAYBE_ZEROS = r"^[-+]?0\d", re.compile(rb"""[,\n"]\s*[-+]?0\d""")

# The columns that a table of one side need not have, though the caller names them for both.
OF_OTHER_SIDE = {"truth": {"score"}, "predictions": {"object", "category", "area", "crowd", "ignore", "visibility"}}

# How many times its size a Parquet file may unpack to once that is more than LARGEST_UNPACKED.
LARGEST_RATIO = 200


def read_objects(
    source: str | Path | Table,
    frames: str | Path | Table | None = None,
    *,
    table: TableKind | None = None,
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> Annotations:
    """Reads a table of objects, and one of frames where there is one, as checked Annotations.

    Parameters
    ----------
    source
        A table in memory, or a path: .parquet, a folder of such files (hive partitions become columns), .csv, .csv.gz,
        .arrow or .feather. A path may have wildcards (day=*/*.parquet), or be an address such as s3://bucket/truth.
    frames
        The table of frames in the same way. Without it, the frames that count are those in which either side of an
        evaluation has objects.
    table
        The kind of both tables that come back: "pandas", "polars" or "pyarrow"; without a word that of `source`, and
        pandas for a file.
    storage_options, filesystem
        For an address such as s3://bucket/truth: the options of its file system, with fsspec's names (`key`,
        `secret`, `token`, `endpoint_url` for S3), or that itself, pyarrow's or fsspec's.

    Returns
    -------
    Annotations, with all columns of the tables.

    Raises
    ------
    InputError: a file cannot be read, or a table is not right. The message names the file.
    ValueError: there is no such kind of table.

    Examples
    --------
    >>> import spotgeo_frames as sf
    >>> truth = sf.read_objects("data/sample/truth.parquet", frames="data/sample/frames.parquet")
    >>> len(truth.objects)
    627
    """
    kind = table_kinds.kind_of(source) if table is None else table_kinds.check_kind(table)
    source, frames = collected(source, "objects"), collected(frames, "frames")
    keep_types, storage = kind != "pandas", Storage(storage_options, filesystem)
    objects = _checked(source, "objects", keep_types, storage)
    known = None if frames is None else _checked(frames, "frames", keep_types, storage)
    return table_kinds.as_kind(Annotations(objects, known), kind, table_kinds.categorical_columns(source, frames))


def read_needed(path: str | Path, side: str, needed: Needed | None) -> pd.DataFrame:
    """A checked table in a file, as pandas, with all columns or those that are needed; `side` is a key of PREFIXES.

    A table of up to MOST_CARRIED columns has them all. Of another, those are read that play a part in an evaluation and
    those that are named; a warning says so where the others would have been carried along.
    """
    if needed is not None:
        prefix = schema.PREFIXES[side]
        named = {name.removeprefix(prefix) for name in needed.named if name.startswith(prefix)}
        needed = needed._replace(named=named)
    return _checked(path, "frames" if side == "frames" else "objects", False, Storage(), needed, side)


def read_categories(path: str | Path) -> pd.DataFrame:
    """A checked table of categories in a file, as pandas."""
    return _checked(path, "categories", False, Storage())


def _wanted(names: Sequence[str], needed: Needed | None, path: Path) -> list[str] | None:
    """The names of the columns to read of those there are; None if all are read."""
    if needed is None or len(names) <= MOST_CARRIED or len({*names}) < len(names):
        return None
    if not {*needed.named} <= {*names}:  # the problem will list what there is
        return None
    tidied = {name for of in needed.tidy.values() for name in ([of] if isinstance(of, str) else of)}
    wanted = [name for name in names if name in needed.named or name in tidied or other_words.plays_a_part(name)]
    if needed.carried and len(wanted) < len(names):
        what = f"has {len(names):,} columns, of which {len(wanted):,} are read: those that play a part in evaluating it"
        named = f", and {', '.join(sorted(needed.named))}" if needed.named else ""
        advice = f"tables of up to {MOST_CARRIED:,} columns are carried along whole"
        warnings.warn(f"{path}: {what}{named}; {advice}", stacklevel=2)
    return wanted


def _checked(
    source: str | Path | Table,
    name: str,
    keep_types: bool,
    storage: Storage,
    needed: Needed | None = None,
    side: str | None = None,
) -> pd.DataFrame:
    """A checked table of "objects", "frames" or "categories", as `name` says, in memory or in a file, which it notes.

    Evaluations say which `side` it is. Objects without a name are numbered for them only: people would take the numbers
    for identities.
    """
    check_objects = partial(checks.check_objects, numbered=side is not None)
    check = {"frames": checks.check_frames, "categories": checks.check_categories}.get(name, check_objects)
    if not isinstance(source, str | Path):
        table = check(source, name)
        return pandas_tables.own_copy(table) if table is source else table
    with addresses.local_copy(source, storage) as copy:
        state = provenance.copy_state(copy, provenance.PARQUET_FILES)
        table = _read(copy.path, keep_types, needed)
        if needed is not None and needed.tidy and side in OF_OTHER_SIDE:
            table = _tidied(table, needed.tidy, str(copy.path), OF_OTHER_SIDE[side])
        elif needed is not None and needed.tidy:
            table = _tidied_frames(table, needed.tidy, str(copy.path))
        table = check(table, str(copy.path))
        provenance.note_source(table, copy.name, state)
    return table


def _tidied(table: pd.DataFrame, arguments: Mapping[str, Any], name: str, optional: Collection[str]) -> pd.DataFrame:
    """A table in other words, tidied by the arguments that it needs; what is found and what is left goes to stderr.

    A table that has a column under its right name needs no other. Raises InputError if it lacks a named column that is
    not `optional`, or for what `tidy` finds wrong.
    """
    fitting = dict(arguments)
    if fitting.keys().isdisjoint({*schema.BOX, "box"}) and {*schema.BOX} <= {*table}:
        fitting.pop("box_format", None)  # their names are those of this package
    for column, of in arguments.items():
        names, own = ([of], [column]) if isinstance(of, str) else (of, schema.BOX)
        if column == "box_format" or not {*names}.isdisjoint(table):
            continue
        if {*own} <= {*table}:
            stay = "stays as it is" if len(own) == 1 else "stay as they are"
            print(f"{name}: has no {', '.join(names)}, so {', '.join(own)} {stay}", file=sys.stderr)
        elif column not in optional:
            continue  # tidy says what is missing
        del fitting[column]
        if column == "box":
            fitting.pop("box_format", None)
    try:
        with redirect_stdout(sys.stderr):
            return tidy(table, **fitting)
    except InputError as error:
        problems = [problem.replace("tidy: table", name) for problem in error.problems]
        if arguments.get("category") not in (None, *table.columns):
            how = "classes of one side are not compared, so leave category out of --columns if this side has none"
            problems = [f"{problem}; {how}" if "it is to be category" in problem else problem for problem in problems]
        raise InputError(problems) from None


def _tidied_frames(table: pd.DataFrame, arguments: Mapping[str, Any], name: str) -> pd.DataFrame:
    """A table of frames in other words: its `sequence` and `frame` get their names, and all else keeps its own.

    Raises InputError as `_tidied` does.
    """
    words = {column: arguments[column] for column in schema.FRAME_KEY if column in arguments}
    usual = [found for column in schema.FRAME_KEY for found in other_words.in_other_words(column, table.columns)]
    keys = [column for column in table.columns if column in (*schema.FRAME_KEY, *words.values(), *usual)]
    tidied = _tidied(table[keys], words, name, ())
    return table.rename(columns=dict(zip(keys, tidied.columns, strict=True)))


def _read(path: Path, keep_types: bool, needed: Needed | None) -> pd.DataFrame:
    """The table in a file or a folder, unchecked; all of it where `needed` is None.

    With `keep_types` dates, lists and the like keep their Arrow type; otherwise they are objects of Python.
    """
    to_pandas = partial(arrow.arrow_to_pandas, name=str(path), keep_types=keep_types)
    wanted = partial(_wanted, needed=needed, path=path)
    with reading.readable(path):
        if path.is_dir():
            return to_pandas(_folder(path, wanted))
        if not path.exists():
            raise InputError(f"{path}: there is no such file")
        match [suffix.lower() for suffix in path.suffixes[-2:]]:
            case [*_, ".parquet"]:
                return to_pandas(_parquet(path, wanted))
            case [*_, ".csv"] | [".csv", ".gz"]:
                return to_pandas(_csv(path, wanted))
            case [*_, ".arrow" | ".feather"]:
                with pa.memory_map(str(path)) as stream:
                    table = pa.ipc.open_file(stream).read_all()
                    columns = wanted(table.schema.names)
                    return to_pandas(table if columns is None else table.select(columns))
    if path.name.lower().endswith((".json", ".zip", ".gz")):
        what = "read() finds its format, and read_spotgeo, read_coco and read_posetrack read theirs"
        raise InputError(f"{path}: is no table but JSON, plain or packed; {what}")
    if path.name.lower().endswith(".xml"):
        raise InputError(
            f"{path}: is no table but XML; read() reads that of tools of annotation, read_cvat that of CVAT for video"
        )
    kinds = ".json, .json.gz, .zip, .parquet, .csv, .csv.gz, .arrow, .xml or a folder of .parquet"
    raise InputError(f"{path}: is of no known kind; {kinds} is needed")


def _parquet(path: Path, wanted: Wanted) -> pa.Table:
    import pyarrow.parquet as pq  # takes a while, and competition files never need it

    with pq.ParquetFile(path) as file:
        columns = wanted(file.schema_arrow.names)
        n_columns = file.metadata.num_columns if columns is None else len(columns)
        _check_unpacked(path, file.metadata.num_rows * n_columns, path.stat().st_size)
        _check_text(path, file.metadata, file.schema_arrow, columns)
        return file.read(columns)


def _folder(path: Path, wanted: Wanted) -> pa.Table:
    """All Parquet files below a folder, in the order of their names."""
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    files = reading.files_below(path, ".parquet")
    if not files:
        raise InputError(f"{path}: is a folder without Parquet files")
    pq.read_metadata(files[0])  # a dataset says less of what is wrong with it
    paths = [str(file) for file in files]
    # Without a buffer for all columns of a file, which takes a quarter of the time of small ones.
    form = ds.ParquetFileFormat(default_fragment_scan_options=ds.ParquetFragmentScanOptions(pre_buffer=False))
    open_files = partial(ds.dataset, paths, format=form, partitioning="hive", partition_base_dir=str(path))
    names = _names_of_folders(paths)
    if names:
        inferred = open_files().partitioning.schema
        types = [(field.name, pa.string() if field.name in names else field.type) for field in inferred]
        open_files = partial(open_files, partitioning=ds.HivePartitioning(pa.schema(types)))
    # The first file's columns need not be all there are, nor its types wide enough for the others.
    dataset = open_files()
    fragments = [*dataset.get_fragments()]  # which keep their footers, so that each is read once
    footers = [fragment.metadata for fragment in fragments]
    schemas = [dataset.schema, *(fragment.physical_schema for fragment in fragments)]
    schema = pa.unify_schemas(schemas, promote_options="permissive")
    # Files of different columns make a table of all of them, null in most rows.
    columns = wanted(schema.names)
    n_columns = len(schema.names if columns is None else columns)
    for file, footer in zip(files, footers, strict=True):
        _check_unpacked(file, footer.num_rows * min(n_columns, footer.num_columns), file.stat().st_size)
    n_values = sum(footer.num_rows for footer in footers) * n_columns
    _check_unpacked(path, n_values, sum(file.stat().st_size for file in files))
    for file, footer, fragment in zip(files, footers, fragments, strict=True):
        _check_text(file, footer, fragment.physical_schema, columns)
    return (dataset if schema.equals(dataset.schema) else open_files(schema=schema)).to_table(columns)


def _names_of_folders(paths: Sequence[str]) -> set[str]:
    """The keys of folders such as sequence=007 of which two values are one number, so that they are names."""
    values: dict[str, set[str]] = {}
    for key, value in re.findall(r"[/\\]([^/\\=]+)=(\d+)(?=[/\\])", "\n".join(paths)):
        values.setdefault(key, set()).add(value)
    return {key for key, of in values.items() if len({*map(int, of)}) < len(of)}


def _check_unpacked(path: Path, n_values: int, size: int) -> None:
    """Refuses what takes far more memory, for so many values, than any real table of its size (bytes) does."""
    unpacked = n_values * 8
    if unpacked > max(reading.LARGEST_UNPACKED, LARGEST_RATIO * size):
        raise InputError(f"{path}: unpacks to {unpacked >> 20} MiB, more than {LARGEST_RATIO} times its size")


def _check_text(path: Path, footer: Any, there: pa.Schema, columns: Sequence[str] | None) -> None:
    """Refuses a file whose text is repeated so often that it takes far more memory than the file's size justifies.

    Text that the table itself keeps as a dictionary stays one.
    """
    import pyarrow.parquet as pq

    most = max(reading.LARGEST_UNPACKED, LARGEST_RATIO * path.stat().st_size)
    sizes: Counter[str] = Counter()  # at most these, if all rows had the longest text that the file has room for
    for group in (footer.row_group(position) for position in range(footer.num_row_groups)):
        for chunk in (group.column(position) for position in range(group.num_columns)):
            if chunk.physical_type == "BYTE_ARRAY" and chunk.has_dictionary_page:
                sizes[chunk.path_in_schema] += group.num_rows * chunk.total_uncompressed_size
    large = [name for name, size in sizes.items() if size > most]
    if not large:
        return
    kinds = {field.name: field.type for field in there if columns is None or field.name in columns}
    texts = [name for name in large if not pa.types.is_dictionary(kinds.get(name, DROPPED))]
    with pq.ParquetFile(path, metadata=footer, read_dictionary=texts) as opened:
        found = Counter[str]()
        for batch in opened.iter_batches(columns=texts) if texts else ():
            for name in texts:
                found[name] += arrow.text_bytes(batch.column(name))
                if found[name] > most:
                    what = f"column {name}: its repeated text unpacks to more than {most >> 20} MiB"
                    raise InputError(f"{path}: {what}; write it as a dictionary (category in pandas)")


def _csv(path: Path, wanted: Wanted) -> pa.Table:
    from pyarrow import csv

    content = reading.read_bytes(path)
    reading.check_no_nul(content, str(path))
    reading.check_utf8(content[: content.find(b"\n") + 1], str(path))
    buffer, given = reading.arrow_buffer(content), _header(content)
    names = other_words.names_without_blanks(given)
    columns = wanted(names)
    block = kept = None
    if columns is not None or len(names) > MOST_CARRIED:
        # A block has to hold a whole line, be its numbers longer than the names of their columns.
        block = csv.ReadOptions(block_size=min(max(1 << 20, 8 * content.find(b"\n")), 1 << 30))
    if columns is not None:
        kept = csv.ConvertOptions(include_columns=[n for n, name in zip(given, names, strict=True) if name in columns])
    table = csv.read_csv(pa.BufferReader(buffer), read_options=block, convert_options=kept)
    if any(pa.types.is_binary(kind) for kind in table.schema.types):  # what pyarrow takes other encodings for
        reading.check_utf8(content, str(path))
    if MAYBE_ZEROS.search(content):
        table = _with_names(table, buffer, block)
    return _without_blanks(table)


def _header(content: bytes) -> list[str]:
    """The names of the columns of a CSV; none where they are too long for Python's own reader."""
    import csv

    with TextIOWrapper(BytesIO(content), "utf-8-sig", "replace", newline="") as text:
        try:
            return next(csv.reader(text), [])
        except csv.Error:
            return []


def _with_names(table: pa.Table, content: pa.Buffer, block: Any) -> pa.Table:
    """The table of a CSV with names such as 007 as text, of which pyarrow has made the number 7.

    `block` are the options with which the table was read.
    """
    from pyarrow import csv

    whole = [of.name for of in table.schema if pa.types.is_integer(of.type) and of.name.strip() not in NUMBERS]
    if not whole or len({*table.column_names}) < len(table.column_names):
        return table
    types = dict.fromkeys(whole, pa.string())
    options = csv.ConvertOptions(include_columns=whole, column_types=types, strings_can_be_null=True)
    texts = csv.read_csv(pa.BufferReader(content), read_options=block, convert_options=options)
    for name in whole:
        text = pc.utf8_trim_whitespace(texts[name])
        if _are_names(name.strip(), text, table[name]):
            table = table.set_column(table.column_names.index(name), name, text)
    return table


def _are_names(name: str, text: pa.ChunkedArray, numbers: pa.ChunkedArray) -> bool:
    """Whether whole numbers of a column called `name` are names: some begin with zeros, which a number would lose.

    That is so in the columns that name rows, and in others where two different texts are one number.
    """
    if not pc.any(pc.match_substring_regex(text, LEADING_ZEROS)).as_py():
        return False
    return name in schema.NAMING_COLUMNS or pc.count_distinct(text).as_py() > pc.count_distinct(numbers).as_py()


def _without_blanks(table: pa.Table) -> pa.Table:
    """A table whose names of columns have no blanks around them, as after each comma; nor has the text below these."""
    names = other_words.names_without_blanks(table.column_names)
    for position, (name, given) in enumerate(zip(names, table.column_names, strict=True)):
        if name != given and pa.types.is_string(table.column(position).type):
            table = table.set_column(position, given, pc.utf8_trim_whitespace(table.column(position)))
    return table.rename_columns(names)
