"""The files of a Parquet dataset: their state, whether they have changed, their footers and their row groups."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import pyarrow as pa

from ..support import Fetching, Listed, Place, check_memory, check_none, stores, work

# How much of the end of a file is read to tell whether it has changed. Most footers fit, and one request is enough.
TAIL = 1 << 16

# What the fields of a state are called in messages.
STATE = ("size", "time of change", "footer")

# The size of the footers (bytes, as the files have them) that are kept once parsed, of the files of one chain. Parsed,
# they take several times that.
KEPT_FOOTERS = 1 << 21

# The same of all files of a dataset, from when it is first looked at: each saves a request to a store, and of a small
# local file a third of the time.
KEPT_OF_DATASET = 1 << 23

# How many bytes of a column are read at once from a local disk; and how many of all columns and chains are read ahead
# from a store, where each request waits as long as megabytes take.
BUFFER, AHEAD = 1 << 18, 1 << 26

# Of more files, the listing of their folder takes fewer requests than asking for each.
FEW_FILES = 10


class FileState(NamedTuple):
    """The state of a file: its size (bytes), when it was changed (ns), and the SHA-256 of its footer.

    All three together tell a file that was written anew from the one that was there. `footer` is empty if the file
    cannot be read, and as long as its footer has not been read.
    """

    size: int
    changed: int
    footer: str


class File(NamedTuple):
    """A Parquet file, its state when it was first seen, and the values of its hive partition.

    `folder` is the folder in whose listing it was seen, None if it was asked for by its name. `kept` is its footer, if
    this process has kept it since then; other processes read it again.
    """

    place: Place
    state: FileState
    partition: dict[str, Any]
    folder: Place | None = None
    kept: Any = None

    def __reduce__(self) -> tuple[Any, ...]:
        return File, self[:4]


def tail_digest(place: Place) -> str:
    """The SHA-256 of the tail of a local file; empty if it cannot be read."""
    try:
        return hashlib.sha256(_tail(place)).hexdigest()
    except (OSError, pa.ArrowException) as error:
        check_memory(error, place.name)
        return ""


def _tail(place: Place) -> bytes:
    """The last TAIL bytes of a local file, or its footer if that is longer."""
    with place.filesystem.open_input_file(place.path) as source:
        size = source.size()
        tail = source.read_at(min(size, TAIL), max(size - TAIL, 0))
        length = int.from_bytes(tail[-8:-4], "little") + 8 if tail[-4:] == b"PAR1" else 0
        return source.read_at(length, size - length) if len(tail) < length <= size else tail


def _seen_again(files: Sequence[File]) -> dict[str, Listed]:
    """What the file system says now of those files that are there, by their paths, in few requests."""
    filesystem = files[0].place.filesystem
    if hasattr(getattr(filesystem, "handler", None), "fs"):
        filesystem.handler.fs.invalidate_cache()  # fsspec remembers what it has listed
    folder = files[0].folder
    if folder is None or stores.is_local(folder) or len(files) <= FEW_FILES:
        found: Sequence[Listed | None] = stores.listed([file.place for file in files])
    else:
        found = stores.listed_below(folder, lambda path: path.endswith(".parquet"))
    return {file.place.path: file for file in found if file is not None}


def check_unchanged(files: Iterable[File]) -> None:
    """Raises InputError, naming the files, if some are no longer there or no longer as they were first seen.

    The footers of files on a store are not read again if it says when they changed, which, unlike the time of a local
    file, cannot be set.
    """
    files = list({file.place.path: file for file in files}.values())
    of_folder: dict[tuple[Any, ...], list[File]] = {}
    for file in files:
        of_folder.setdefault((file.folder and file.folder.path, file.place.filesystem.type_name), []).append(file)
    now = {path: state for group in of_folder.values() for path, state in _now(group).items()}
    problems = []
    for file in files:
        state = now.get(file.place.path)
        if state is None:
            problems.append(f"{file.place.name}: is not there, though it was; workers must reach it by the same name")
        elif state != file.state:
            which = " and ".join(name for name, now, then in zip(STATE, state, file.state, strict=True) if now != then)
            advice = "leave the files alone during a run, and start it anew"
            problems.append(f"{file.place.name}: was changed during the run ({which} differ); {advice}")
    check_none(problems)


def _now(files: Sequence[File]) -> dict[str, FileState]:
    """The states of files of one folder as they are now, by their paths, without those that are not there."""
    seen = _seen_again(files)
    there = [(file, seen[file.place.path]) for file in files if file.place.path in seen]
    footers = work.each(lambda some: [_footer_now(*both) for both in some], there)
    return {
        file.place.path: FileState(now.size, now.changed, footer)
        for (file, now), footer in zip(there, footers, strict=True)
    }


def _footer_now(file: File, now: Listed) -> str:
    """The digest of the footer of a file, which is read again unless a store says when the file changed."""
    if stores.is_local(file.place):
        return tail_digest(file.place)
    if now.changed:
        return file.state.footer
    try:
        return footer_of(file).digest
    except (OSError, ValueError) as error:  # Arrow's errors are of these
        check_memory(error, file.place.name)
        return ""


class Footer(NamedTuple):
    """The footer of a file: pyarrow's metadata, the columns with their Arrow types, and how to read the file by both.

    `digest` is the SHA-256 that the state of the file has. `fragment` is one of a pyarrow dataset, of a file on a
    store: it is read without asking for the file's size.
    """

    metadata: Any
    schema: pa.Schema
    digest: str
    fragment: Any = None


class Expected(NamedTuple):
    """A row group that will be read: its file, its position there, its columns, and the most rows of a batch."""

    file: File
    position: int
    columns: Sequence[str]
    at_once: int


class Choice(NamedTuple):
    """The columns to read of a file, and of those the ones that become text, and that may be text in the file."""

    names: list[str]
    decoded: list[str]
    texts: list[str]


class OpenedFiles:
    """Reads the row groups of files one after the other, and parses the footer of each file once.

    A footer describes all row groups of its file, so parsing it anew for each of them would take time that grows with
    the square of their count. The footers used last are kept, up to KEPT_FOOTERS bytes, but always the very last one.
    `n_chains` is how many chains of files are read side by side; they share what may be read ahead.
    """

    def __init__(self, n_chains: int = 1) -> None:
        self._footers: dict[str, Footer] = {}
        self._size = 0
        self._ahead = AHEAD // n_chains
        self._last: tuple[str, Any] = "", None
        self._expected = Fetching(_fetched, dict[str, Expected]())
        self._fetched: dict[tuple[str, int], list[Any]] = {}
        self._chosen: tuple[pa.Schema, pa.Schema, list[str], Choice] | None = None

    def expect(self, groups: Sequence[Expected]) -> None:
        """Reads ahead, several at once, of row groups that will be asked for in this order.

        Each has at most a batch of rows. Those on a store are read ahead that are the only one here of their file.
        """
        n_groups = Counter(group.file.place.path for group in groups)
        alone = {
            group.file.place.path: group
            for group in groups
            if n_groups[group.file.place.path] == 1 and not stores.is_local(group.file.place)
        }
        self._expected = Fetching(_fetched, alone)

    def footer(self, file: File) -> Footer:
        """The footer of a file, in one request if it is not kept."""
        fetched = self._expected.take(file.place.path)
        if fetched is not None:
            self._fetched[file.place.path, fetched[0]] = fetched[2]
        if file.kept is not None:
            return file.kept
        footer = self._footers.pop(file.place.path, None)
        self._size -= 0 if footer is None else footer.metadata.serialized_size
        if footer is None:
            footer = footer_of(file) if fetched is None else fetched[1]
        self._footers[file.place.path] = footer
        self._size += footer.metadata.serialized_size
        while self._size > KEPT_FOOTERS and len(self._footers) > 1:
            self._size -= self._footers.pop(next(iter(self._footers))).metadata.serialized_size
        return footer

    def choice(self, file: File, schema: pa.Schema) -> Choice:
        """What a file has of the columns of a schema; the last answer is kept, since most files are alike."""
        there, partition = self.footer(file).schema, [*file.partition]
        if self._chosen is None or not (
            self._chosen[0] is schema and self._chosen[1].equals(there) and self._chosen[2] == partition
        ):
            names = [name for name in schema.names if name in there.names and name not in partition]
            decoded = [name for name in names if pa.types.is_string(schema.field(name).type)]
            texts = [name for name in names if not pa.types.is_primitive(there.field(name).type)]
            self._chosen = schema, there, partition, Choice(names, decoded, texts)
        return self._chosen[3]

    def batches(
        self, file: File, position: int, columns: Sequence[str], at_once: int, texts: Sequence[str] | None = None
    ) -> Iterator[Any]:
        """The rows of a row group in record batches of `at_once` rows at most, with these columns.

        Text that the file has as a dictionary stays one: without, it may take thousands of times as much. `texts` are
        the columns that may have some (None: all). Pages are read one after the other, so memory does not grow with the
        row group. On a store, the columns are read ahead in few large requests, and a row group of one batch in one
        request, which needs no other first.
        """
        footer = self.footer(file)
        fetched = self._fetched.pop((file.place.path, position), None)
        if fetched is not None:
            yield from fetched
            return
        n_rows = footer.metadata.row_group(position).num_rows
        if footer.fragment is not None and n_rows <= at_once:
            yield from _whole_group(footer, position, columns, at_once)
            return
        dictionaries = _dictionaries(footer, position, columns if texts is None else texts)
        with self._opened(file, footer, position, columns, dictionaries) as opened:
            yield from opened.iter_batches(at_once, row_groups=[position], columns=list(columns), use_threads=False)

    def _opened(
        self, file: File, footer: Footer, position: int, columns: Sequence[str], dictionaries: Sequence[str]
    ) -> Any:
        """The file opened as Parquet, to read these columns of a row group, some of them as dictionaries."""
        import pyarrow.parquet as pq

        if stores.is_local(file.place):
            source, whole, buffer = file.place.filesystem.open_input_file(file.place.path), False, BUFFER
            if file.state.size <= TAIL:  # one call of the system, and not one for each column
                with source:
                    source = pa.BufferReader(source.read_buffer(TAIL))
        else:
            if self._last[0] != file.place.path:  # opening asks the store for the size
                self._last = file.place.path, file.place.filesystem.open_input_file(file.place.path)
            source, n_columns = self._last[1], max(len(columns), 1)
            whole = _packed_size(footer, position, columns) <= self._ahead
            buffer = max(self._ahead // n_columns, BUFFER)
        return pq.ParquetFile(
            source,
            metadata=footer.metadata,
            read_dictionary=dictionaries,
            buffer_size=buffer,
            pre_buffer=whole,
            page_checksum_verification=True,
        )


def _dictionaries(footer: Footer, position: int, columns: Sequence[str]) -> list[str]:
    """The columns of text of a row group that are kept as a dictionary there."""
    if not columns:
        return []
    group, names = footer.metadata.row_group(position), {*columns}
    chunks = [group.column(place) for place in range(group.num_columns)]
    return [
        chunk.path_in_schema
        for chunk in chunks
        if chunk.physical_type == "BYTE_ARRAY" and chunk.has_dictionary_page and chunk.path_in_schema in names
    ]


def _whole_group(footer: Footer, position: int, columns: Sequence[str], at_once: int) -> Iterator[Any]:
    """The rows of a row group of a file on a store, read in one request."""
    group = footer.fragment.subset(row_group_ids=[position])
    yield from group.to_batches(columns=list(columns), batch_size=at_once, use_threads=False)


def _fetched(group: Expected) -> tuple[int, Footer, list[Any]]:
    """A row group's position, the footer of its file, and its rows in batches, which are read ahead from a store.

    There is a request for those of the columns that it has, after one for the footer unless that is kept.
    """
    footer = group.file.kept or footer_of(group.file)
    there = {*footer.schema.names}.difference(group.file.partition)
    names = [name for name in group.columns if name in there]
    return group.position, footer, list(_whole_group(footer, group.position, names, group.at_once))


def _packed_size(footer: Footer, position: int, columns: Sequence[str]) -> int:
    """How many bytes of a file these columns of a row group take."""
    group, names = footer.metadata.row_group(position), {*columns}
    chunks = map(group.column, range(group.num_columns))
    return sum(chunk.total_compressed_size for chunk in chunks if chunk.path_in_schema.partition(".")[0] in names)


def _fragment(file: File) -> Any:
    """A file as a fragment of a pyarrow dataset, which takes its size as known."""
    import pyarrow.dataset as ds

    options = ds.ParquetFragmentScanOptions(pre_buffer=True, page_checksum_verification=True)
    form = ds.ParquetFileFormat(default_fragment_scan_options=options)
    return form.make_fragment(file.place.path, file.place.filesystem, file_size=file.state.size or None)


def footer_of(file: File) -> Footer:
    """The footer of a file, read with its digest: of a store in one request where its size is known."""
    import pyarrow.parquet as pq

    if not stores.is_local(file.place):
        fragment = _fragment(file)
        return Footer(fragment.metadata, fragment.physical_schema, _written_digest(fragment.metadata), fragment)
    tail = _tail(file.place)
    with pq.ParquetFile(pa.BufferReader(tail)) as opened:
        return Footer(opened.metadata, opened.schema_arrow, hashlib.sha256(tail).hexdigest())


def _written_digest(metadata: Any) -> str:
    """The SHA-256 of the footer of a file on a store, whose bytes nobody has."""
    sink = pa.BufferOutputStream()
    metadata.write_metadata_file(sink)
    return hashlib.sha256(sink.getvalue()).hexdigest()


# The frames of a row group whose frames are not known: all 64-bit integers.
FIRST, LAST = -(1 << 63), (1 << 63) - 1

# A sequence and a frame, by which rows are in order.
Key = tuple[Any, int]


class RowGroup(NamedTuple):
    """A row group of a dataset.

    `order` is the position of its file and its own position in the file. It has `n_rows` rows, whose sequences lie
    between `low` and `high`, both included. Its rows of sequence `low` are of `first_frame` or later, and those of
    `high` of `last_frame` or earlier.
    """

    order: tuple[int, int]
    file: File
    n_rows: int
    low: Any
    high: Any
    first_frame: int = FIRST
    last_frame: int = LAST

    @property
    def begin(self) -> Key:
        """No row of the group comes before this sequence and frame."""
        return self.low, self.first_frame

    @property
    def end(self) -> Key:
        """No row of the group comes after this sequence and frame."""
        return self.high, self.last_frame


class Gap(NamedTuple):
    """Sequences that are left out, from `low` to `high` (None: no end), and why.

    `listed` are the sequences if not all between the two are left out.
    """

    low: Any
    high: Any
    problem: str
    listed: Sequence[Any] | None = None


def gap_text(gap: Gap) -> str:
    """A gap as text: the problem, and the sequences that are left out because of it."""
    if gap.listed is not None and gap.low != gap.high:
        return f"{gap.problem}; {len(gap.listed):,} sequences from {gap.low} to {gap.high} are left out"
    if gap.low == gap.high and gap.low is not None:
        return f"{gap.problem}; sequence {gap.low} is left out"
    low, high = ("the first" if gap.low is None else gap.low), ("the last" if gap.high is None else gap.high)
    return f"{gap.problem}; sequences {low} to {high} are left out"
