"""The results of parts: sums that can be added, and the files of these and of what follows from them."""

import hashlib
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import pandas as pd
import pyarrow as pa

from ..matching import FrameRule, left_out
from ..scoring import Sums, match_sums, sequence_sums
from ..support import Digest, InputError, memory, reading, stores, writing
from ..tables import Columns, arrow, columns_of, dataframe_of, selections
from ..tracking import track_sums
from .columns import SIDES, geometries
from .contents import Contents
from .folder import RunFolder, written_for
from .quantiles import column_tables

# The most sequences of only one side that a result names.
MOST_LISTED = 1000

# Results that are added up at once.
FOLDED = 16

# Results that wait are added up before they have more groups than the sum so far, or than this.
MANY_GROUPS = 1 << 16

# What a group takes until it is added up and in the summary (bytes): measured with a million, of text.
GROUP_BYTES = 500

# The size of a SHA-256.
DIGEST_BYTES = 32


class Result(NamedTuple):
    """The result of one part or of several.

    `sums` are those by each grouping, empty if there were no rows. `n_rows` is how many rows each side has. `one_sided`
    is how many sequences only the truth, or only the predictions, have, with the names of the first. `n_shared` is how
    many sequences both have. `skipped` are texts on row groups that could not be read. `excluded` are the sequences
    that occurred and were left out as asked. `files` are the files that were written, by their names in the
    run's folder. `remarks` are texts on kept results that were damaged. `cut` are the sequences that have frames in
    other results, with whether the truth and whether the predictions have them here; they are counted nowhere else, and
    `pieces` are their sums by each grouping.
    """

    sums: list[Sums]
    n_rows: dict[str, int]
    one_sided: dict[str, tuple[int, list[Any]]]
    n_shared: int
    skipped: list[str]
    excluded: list[Any]
    files: dict[str, Digest]
    remarks: tuple[str, ...] = ()
    cut: Sequence[tuple[Any, bool, bool]] = ()
    pieces: Sequence[Sums] = ()


class _Notes(msgspec.Struct):
    """The contents of a file of sums besides its tables: which run and part it is of, and the fields of the result."""

    run: str
    part: int
    n_rows: dict[str, int]
    one_sided: dict[str, tuple[int, list[int | str]]]
    n_shared: int
    skipped: list[str]
    excluded: list[int | str]
    files: dict[str, Digest]
    cut: list[tuple[int | str, bool, bool]]
    groupings: list[tuple[dict[int, tuple[int, int]], bool, dict[Hashable, Any]]]


def fold(results: Sequence[Any], add: Callable[[Sequence[Any]], Any]) -> Any:
    """The sum of all results by `add`, neighbours first.

    The tree of additions depends only on how many results there are, so rounding is the same on every machine. Results
    may also be futures of a cluster, if `add` takes these.
    """
    while len(results) > 1:
        results = [add(results[first : first + FOLDED]) for first in range(0, len(results), FOLDED)]
    return results[0]


def added(results: Iterable[Result]) -> Result:
    """The sum of one or more results, which come one by one; rounding depends only on their order."""
    waiting: list[Result] = []
    for result in results:
        waiting = few([*waiting, result])
        del result  # so that nothing else keeps it once it is added
    return fold(waiting, add_results)


def few(results: list[Result]) -> list[Result]:
    """The results, or their sum alone if the others have many groups, and more than the first.

    Each may have a row for every one of a million groups, so these must not wait for the last one to be added up.
    """
    first, *others = map(_n_groups, results)
    return [add_results(results)] if sum(others) > max(first, MANY_GROUPS) else results


def _n_groups(result: Result) -> int:
    return sum(len(sums.labels) for sums in result.sums)


def _check_memory(results: Sequence[Result]) -> None:
    """Raises InputError if adding up the groups of these results would take more memory than is at hand."""
    n_groups = sum(map(_n_groups, results))
    names = dict.fromkeys(name for result in results for sums in result.sums for name in sums.labels)
    advice = "give by= columns of fewer values, group the match table (out=) with DuckDB, evaluate fewer sequences"
    memory.check_at_hand(
        f"sums by {', '.join(names)}", f"adding up {n_groups:,} of them", n_groups * GROUP_BYTES, advice
    )


def add_results(results: Sequence[Result]) -> Result:
    """The result of several parts together.

    Raises InputError if they have so many groups that the memory at hand is not enough.
    """
    _check_memory(results)
    filled = [result.sums for result in results if result.sums]
    pieces = [result.pieces for result in results if result.pieces]
    sides: dict[Any, tuple[bool, bool]] = {}
    for name, *seen in (sequence for result in results for sequence in result.cut):
        before = sides.get(name, (False, False))
        sides[name] = seen[0] or before[0], seen[1] or before[1]
    return Result(
        [sequence_sums.add_sums(same) for same in zip(*filled, strict=True)],
        {side: sum(result.n_rows[side] for result in results) for side in results[0].n_rows},
        {side: _listed([result.one_sided[side] for result in results]) for side in results[0].one_sided},
        sum(result.n_shared for result in results),
        list(dict.fromkeys(text for result in results for text in result.skipped)),
        list(dict.fromkeys(name for result in results for name in result.excluded)),
        {name: digest for result in results for name, digest in result.files.items()},
        cut=[(name, *seen) for name, seen in sides.items()],
        pieces=[sequence_sums.add_sums(same) for same in zip(*pieces, strict=True)],
    )


def whole_result(result: Result) -> Result:
    """The result of all parts, in which the sequences that were cut count once."""
    if not result.cut:
        return result
    sums = [
        sequence_sums.add_sums(both)
        for both in zip(result.sums, map(match_sums.whole_pieces, result.pieces), strict=True)
    ]
    of_side = {
        "truth": sorted(name for name, in_truth, predicted in result.cut if in_truth and not predicted),
        "predictions": sorted(name for name, in_truth, predicted in result.cut if predicted and not in_truth),
    }
    one_sided = {
        side: _listed([known, (len(of_side[side]), of_side[side])]) for side, known in result.one_sided.items()
    }
    n_shared = result.n_shared + sum(in_truth and predicted for _, in_truth, predicted in result.cut)
    return result._replace(sums=sums, one_sided=one_sided, n_shared=n_shared, cut=(), pieces=())


def _listed(of_results: Sequence[tuple[int, list[Any]]]) -> tuple[int, list[Any]]:
    """How many sequences there are in all results, and the names of the first, sorted, from those of each."""
    names = sorted(name for _, names in of_results for name in names)
    return sum(count for count, _ in of_results), names[:MOST_LISTED]


def warnings_of(result: Result, exclude: Sequence[int | str] | None, frames: FrameRule) -> list[str]:
    """The warnings of damaged results, skipped files, sequences of only one side, and unknown names to exclude."""
    texts = [*result.remarks, *(f"skipped: {text}" for text in result.skipped)]
    meaning = {"truth": "their objects count as missed", "predictions": "theirs are left out"}
    if frames != "labelled":
        meaning["predictions"] = 'theirs count as false alarms; frames="labelled" leaves them out'
    for side, (count, names) in result.one_sided.items():
        if count:
            listed = ", ".join([*map(str, names[:5]), *(["..."] if count > 5 else [])])
            which = "1 sequence is" if count == 1 else f"{count:,} sequences are"
            texts.append(f"{which} in the {side} only ({meaning[side]}): {listed}")
    if exclude and not result.skipped:  # an excluded sequence may be in a skipped file
        unknown = selections.unknown_text(exclude, {*result.excluded})
        texts += [] if unknown is None else [unknown]
    return texts


def category_texts(contents: Mapping[str, Contents], exclude: Sequence[int | str], result: Result) -> list[str]:
    """Warnings of categories that only one side has or none share, and of columns that mark predictions."""
    apart = None
    if _nothing_matched(result) and all("category" in contents[side].schema.names for side in SIDES):
        truth, predictions = (
            {
                name
                for table in column_tables(contents[side], ["category"], exclude)
                for name in table["category"].unique()
            }
            for side in SIDES
        )
        apart = left_out.apart_of_parts(truth, predictions)
    marked = left_out.marked_text({name: None for name in left_out.MARKED if name in contents[SIDES[1]].schema.names})
    return list(filter(None, [left_out.one_sided_categories(*geometries(contents)), apart, marked]))


def _nothing_matched(result: Result) -> bool:
    """Whether no pair was found, of detections or of tracks."""
    return not any(sums.values[name].any() for sums in result.sums[:1] for name in ("tp", "TP") if name in sums.values)


def noted(table: pd.DataFrame, result: Result) -> pd.DataFrame:
    """The table with notes in its attrs on sequences of only one side and on skipped files."""
    for side, (count, names) in result.one_sided.items():
        table.attrs[f"n_{side}_only"], table.attrs[f"{side}_only"] = count, names
    table.attrs["skipped"] = result.skipped
    return table


def write_result(folder: RunFolder, number: int, result: Result) -> Result:
    """Writes the result of a part as Arrow, and returns it with the digest of that file among its files.

    The file has a table of one row with the notes as JSON, then labels and values of each grouping, and at its end the
    SHA-256 of all that. The notes have the digest of the part's match table. Raises InputError if it cannot be written.
    """
    every = [*result.sums, *result.pieces]
    groupings = [(dict(sums.rows), sums.by_similarity, sums.attrs) for sums in every]
    notes = _Notes(folder.identity, number, *result[1:7], list(result.cut), groupings)
    tables = [pa.table({"notes": [msgspec.json.encode(notes)]})]
    for sums in every:
        tables += [pa.Table.from_pandas(dataframe_of(sums.labels), preserve_index=False), _values_table(sums.values)]
    place = folder.sums(number)
    with written_for(folder, place) as stream:
        for table in tables:
            with pa.ipc.new_stream(stream, table.schema) as writer:
                writer.write_table(table)
        stream.write(bytes.fromhex(stream.digest.sha256))
    return result._replace(files=result.files | {folder.relative(place): stream.digest})


def read_result(folder: RunFolder, number: int) -> Result:
    """Reads the result of a part from its file; raises InputError if the file is damaged, or of another part or run."""
    place = folder.sums(number)
    content = stores.read_all(place)
    payload, digest = content[:-DIGEST_BYTES], content[-DIGEST_BYTES:]
    if hashlib.sha256(payload).digest() != digest:
        raise InputError(f"{place.name}: is damaged")
    with reading.readable(place.name):
        stream = pa.BufferReader(payload)
        notes = msgspec.json.decode(pa.ipc.open_stream(stream).read_all()["notes"][0].as_py(), type=_Notes)
        if (notes.run, notes.part) != (folder.identity, number):
            raise InputError(f"{place.name}: is of another run or part")
        sums = []
        for rows, by_similarity, attrs in notes.groupings:
            labels = pa.ipc.open_stream(stream).read_all().to_pandas(types_mapper=arrow.PANDAS_TYPES.get)
            table = pa.ipc.open_stream(stream).read_all()
            labels = columns_of(labels) if len(labels.columns) else Columns({}, n_rows=table.num_rows)
            names = table.column_names
            metrics = match_sums.match_metrics(by_similarity) if "tp" in names else track_sums.tracks_with(names)
            group = np.arange(len(labels))
            sums.append(Sums(metrics, labels, group, None, _values(table), attrs, rows, by_similarity))
    files = notes.files | {folder.relative(place): Digest(len(content), hashlib.sha256(content).hexdigest())}
    n_sums = len(sums) // 2 if notes.cut else len(sums)
    return Result(
        sums[:n_sums],
        notes.n_rows,
        notes.one_sided,
        notes.n_shared,
        notes.skipped,
        notes.excluded,
        files,
        cut=notes.cut or (),
        pieces=sums[n_sums:] or (),
    )


def _values_table(values: Mapping[str, np.ndarray]) -> pa.Table:
    """Sums as a table with a column for each name; arrays of shape (N, K) become lists of K values."""
    columns = {}
    for name, array in values.items():
        column = pa.array(array.ravel())
        columns[name] = column if array.ndim == 1 else pa.FixedSizeListArray.from_arrays(column, array.shape[1])
    return pa.table(columns)


def _values(table: pa.Table) -> dict[str, np.ndarray]:
    """The sums in a table of `_values_table`, as writable arrays."""
    values = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        flat, shape = column.combine_chunks(), [table.num_rows]
        if pa.types.is_fixed_size_list(column.type):
            flat, shape = flat.flatten(), [*shape, column.type.list_size]
        values[name] = np.array(flat).reshape(shape)
    return values


def write_table(table: pd.DataFrame, name: str, folder: RunFolder | None, contents: Mapping[str, Contents]) -> None:
    """Writes a table as Parquet if there is a folder; its metadata has the inputs' names and the table's notes."""
    import pyarrow.parquet as pq

    if folder is None:
        return
    names = {side: dataset.name for side, dataset in contents.items()}
    with written_for(folder, folder.place.inside(f"{name}.parquet")) as stream:
        pq.write_table(writing.as_arrow(table, names | table.attrs), stream, write_page_checksum=True)
