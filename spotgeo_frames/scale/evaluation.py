"""Evaluates one part: reads it block by block, matches each block, writes the match table, and adds up the sums.

The result of a part depends only on its rows. Its files are moved into place when they are complete, the sums last. So
parts can be evaluated in any process and in any order, and again if an earlier attempt failed.
"""

from base64 import b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from ..matching import FrameRule, Pairs, Rule, WithoutCrowds, alignment, compared, crowds, matcher, noted_rule
from ..scoring import Sums, match_sums, sequence_sums
from ..support import InputError, Output, Place, arrays, check_memory, first_line, memory, work, writing
from ..tables import Columns, Edges, SideColumns, array_of, columns_of, match_dataframe, schema
from ..tracking import conditions, counted_in_tracks, counted_with_taken, evaluate_tracks, track_tables
from .blocks import BLOCK_BYTES, BLOCK_ROWS, OutOfOrderError, Source, checked_blocks
from .contents import CANNOT_SKIP
from .files import File, Gap, OpenedFiles, RowGroup, check_unchanged, gap_text
from .folder import RunFolder, written_for
from .parts import Part
from .quantiles import NO_EDGES, bin_codes
from .results import MOST_LISTED, Result, add_results, few, write_result
from .rows import UnreadableError, row_group_batches, rows_within, sequences_of

# Columns that are written with a dictionary. The values of others hardly repeat, and it takes long to find that out.
DICTIONARIES = ["sequence", "frame", "joint", "outcome", "event"]

# A function of two sides, and of their sequences that have frames elsewhere, too. It returns the match table (None if
# it is not needed), and by each grouping the sums and, if there are such sequences, the sums of these.
Method = Callable[[SideColumns, SideColumns, Collection[Any]], tuple[pd.DataFrame | None, list[Sums], list[Sums]]]


class Job(NamedTuple):
    """How to evaluate a part: the columns to read, the function of blocks, and the sequences to exclude.

    `skip` leaves out row groups that cannot be read. `folder` is that of the run, for match tables and sums, or None.
    `elsewhere` is whether parts are evaluated on other machines, whose files may be others by the same names.
    """

    sources: dict[str, Source]
    method: Method
    exclude: list[Any]
    skip: bool
    folder: RunFolder | None
    elsewhere: bool = False


def score_block(
    truth: SideColumns,
    predictions: SideColumns,
    cut: Collection[Any],
    *,
    groupings: Sequence[Sequence[str]],
    edges: Mapping[str, Edges],
    rule: Rule,
    frames: FrameRule,
    keep: bool,
) -> tuple[pd.DataFrame | None, list[Sums], list[Sums]]:
    """The match table of a block by the rule (None unless `keep`), and its sums by each of the groupings.

    The sums of the sequences in `cut`, which have frames in other blocks, come last.

    A grouping is a list of columns of the match table, or empty. The values of a column that has `edges` are replaced
    by the positions of their bins.
    """
    counting = crowds.without_crowds(compared(rule, truth, predictions, frames, may_be_disjoint=True), rule)
    pairs = matcher.assigned(counting.sides, rule)
    if not (keep or cut or any(groupings)):
        return None, [_of_pairs(counting, pairs, rule) for _ in groupings], []
    carried = None if keep else {name for names in groupings for name in names}
    matches = match_dataframe(matcher.counted_table(counting, pairs, rule, carried))
    sums, pieces = [], []
    for names in groupings:
        if not names and not cut:  # not from the table, so that rounding does not depend on whether there is one
            sums.append(_of_pairs(counting, pairs, rule))
            continue
        by = [bin_codes(matches[name], edges[name]) if name in edges else name for name in names] or None
        uncut, *piece = match_sums.cut_sums(matches, by, cut) if cut else (match_sums.summary_sums(matches, by),)
        sums.append(uncut)
        pieces += piece
    return matches if keep else None, sums, pieces


def _of_pairs(counting: WithoutCrowds, pairs: Pairs, rule: Rule) -> Sums:
    """The sums of pairs, of all sequences together."""
    return match_sums.together(match_sums.whole(match_sums.pair_sums(counting, pairs, rule)))


def track_block(
    truth: SideColumns,
    predictions: SideColumns,
    _cut: Collection[Any],
    *,
    rule: Rule,
    frames: FrameRule,
    keep: bool,
    families: Sequence[str],
) -> tuple[pd.DataFrame | None, list[Sums], list[Sums]]:
    """CLEAR's match table of a block (None unless `keep`), and the sums of each sequence; tracks are never cut.

    `families` are those of metrics on request.
    """
    aligned = counted_in_tracks(alignment.align(truth, predictions, frames, may_be_disjoint=True), rule)
    tracks, found, sums = evaluate_tracks(aligned, rule, families)
    matches = track_tables.track_matches(aligned, tracks, found, rule) if keep else None
    return matches, [sums], []


def sliced_track_block(
    truth: SideColumns,
    predictions: SideColumns,
    _cut: Collection[Any],
    *,
    labels: pd.DataFrame,
    edges: Mapping[str, Edges],
    rule: Rule,
    frames: FrameRule,
    keep: bool,
    families: Sequence[str],
) -> tuple[pd.DataFrame | None, list[Sums], list[Sums]]:
    """The same by condition: the slices are the rows of `labels`, by columns of truths, or by positions of bins."""
    aligned = alignment.align(truth, predictions, frames, may_be_disjoint=True)
    taken = counted_with_taken(aligned, rule)
    known, named = columns_of(labels), taken.aligned.truth.table
    values = {column: pd.Series(named[column.removeprefix(conditions.OF_TRUTH)], name=column) for column in known}
    columns = {column: array_of(bin_codes(of, edges.get(column, NO_EDGES))) for column, of in values.items()}
    tables, sums = [], list[Sums]()
    each = [known.take(np.array([row])) for row in range(len(known))]
    for part, row in zip(conditions.slices_of_truths(taken, columns, known), each, strict=True):
        tracks, found, added = evaluate_tracks(part, rule, families)
        of_row = {column: row[column].take(np.zeros(len(added.labels), np.int64)) for column in row}
        notes = {key: note for key, note in added.attrs.items() if not sums or key not in schema.COUNTS_NOTED}
        notes |= {} if sums else {conditions.NEAR_NO_TRUTH: int((taken.by_truth < 0).sum())}  # of all slices together
        sums.append(added._replace(labels=added.labels.assign(of_row), attrs=notes))
        tables += [track_tables.track_matches(part, tracks, found, rule)] if keep else []
    matches = conditions.joined_slices([[table] for table in tables], ["matches"], each)[0] if keep else None
    return matches, [sequence_sums.add_sums(sums)], []


@memory.keeping_freed_memory()
def evaluate_part(part: Part, job: Job) -> Result:
    """Evaluates a part and, if the job has a folder, writes its match table and its sums there.

    Raises InputError if rows are wrong, if a row group cannot be read (unless the job skips it), if a file of the
    datasets has changed or is not there, or if a file cannot be written. Without a folder and on one machine, a change
    is told at the end of the run, unless something else is wrong.
    """
    skipped: list[Gap] = []
    in_memory = False
    while True:  # after an error the part begins anew, since it has left no file yet
        try:
            result = _evaluated(part, job, in_memory)._replace(skipped=[gap_text(gap) for gap in skipped])
            break
        except OutOfOrderError:
            if in_memory:
                raise
            in_memory = True
        except InputError as error:
            check_unchanged(_files(part))  # which would explain it, and must not be skipped
            if not job.skip or not isinstance(error, UnreadableError):
                raise
            damages = [error, *_other_damages(part, job, error.group)]
            gaps = [_gap(damage, part.scattered) for damage in damages]
            part = _without(part, [damage.group for damage in damages], gaps)
            skipped += gaps
    return result if job.folder is None else write_result(job.folder, part.number, result)


def _gap(damage: UnreadableError, scattered: bool) -> Gap:
    """The sequences to leave out because of a row group that cannot be read.

    Of a scattered part only those that it has. Raises InputError if they are not known.
    """
    group, problem = damage.group, damage.problems[0]
    if not scattered or group.low == group.high:
        return Gap(group.low, group.high, problem)
    try:
        return Gap(group.low, group.high, problem, sequences_of(group))
    except UnreadableError:
        raise InputError(f"{problem}; {CANNOT_SKIP}") from None


def _files(part: Part) -> list[File]:
    """The files of a part, one for each of its row groups."""
    return [group.file for _, group in part.groups]


def _other_damages(part: Part, job: Job, known: RowGroup) -> list[UnreadableError]:
    """The errors of all other row groups that cannot be read.

    All are read here once, so that a part with many damaged ones begins anew only once.
    """
    files, damages = OpenedFiles(), []
    for side, group in part.groups:
        schema = job.sources[side].schema
        if group is known:
            continue
        try:
            for _ in row_group_batches(files, group, schema, rows_within(BLOCK_ROWS, BLOCK_BYTES, [schema])):
                pass
        except UnreadableError as error:
            damages.append(error)
    return damages


def _without(part: Part, damaged: Sequence[RowGroup], gaps: Sequence[Gap]) -> Part:
    """The part without these row groups and without the sequences in these gaps."""
    places = {(group.file.place.path, group.order) for group in damaged}

    def whole(groups: Sequence[RowGroup]) -> list[RowGroup]:
        return [group for group in groups if (group.file.place.path, group.order) not in places]

    chains = {side: [left for groups in of_side if (left := whole(groups))] for side, of_side in part.chains.items()}
    return part._replace(chains=chains, gaps=[*part.gaps, *gaps])


def _evaluated(part: Part, job: Job, in_memory: bool) -> Result:
    """The result of a part; its match table is written block by block, and appears if the inputs have not changed."""
    results = [no_result(job.sources)]
    layout: pa.Schema | None = None
    place = None if job.folder is None else job.folder.matches(part.number)
    with ExitStack() as stack:
        writer = stream = None
        for n_rows, excluded, sides, cut in work.ahead(
            checked_blocks(part, job.sources, job.exclude, in_memory=in_memory)
        ):
            if sides is None:
                results.append(no_result(job.sources)._replace(n_rows=n_rows, excluded=excluded))
                continue
            matches, sums, pieces = job.method(*sides, cut)
            only, n_shared, of_cut = _sequences(*sides, cut)
            results.append(Result(sums, n_rows, only, n_shared, [], excluded, {}, cut=of_cut, pieces=pieces))
            if matches is not None and job.folder is not None and place is not None:
                matches.attrs = noted_rule.shared_notes(matches)  # the counts of one block are not the part's
                layout = layout or _schema_of(matches, job.sources)
                table = _as_arrow(matches, layout, place)
                if writer is None:
                    stream = stack.enter_context(written_for(job.folder, place))
                    writer = stack.enter_context(_writer(stream, table.schema, job.folder))
                writer.write_table(table)
                del table
            del sides, matches, sums  # before the next ones are read
            results = few(results)
        result = add_results(results)
        if writer is not None:
            _note_counts(writer, result.sums[0])
        if job.folder is not None or job.elsewhere:  # otherwise the end of the run is soon enough
            check_unchanged(_files(part))
    files = {job.folder.relative(place): stream.digest} if job.folder and place and stream else {}
    return result._replace(files=files)


def _note_counts(writer: Any, sums: Sums) -> None:
    """Notes in the metadata how many crowds the part left out, which is known only at its end.

    Arrow takes a schema's metadata from the copy of the schema in `ARROW:schema`, so that is replaced, too.
    """
    if sums.attrs.keys().isdisjoint(schema.COUNTS_NOTED):
        return
    notes = {key.encode(): text for key, text in writing.metadata_of(sums.attrs).items()}
    layout = writer.schema.with_metadata({**writer.schema.metadata, **notes})
    writer.add_key_value_metadata({**notes, b"ARROW:schema": b64encode(layout.serialize())})


def no_result(sources: Mapping[str, Source]) -> Result:
    """The result of no rows."""
    return Result([], dict.fromkeys(sources, 0), {"truth": (0, []), "predictions": (0, [])}, 0, [], [], {})


def _schema_of(matches: pd.DataFrame, sources: Mapping[str, Source]) -> pa.Schema:
    """The types in which a match table is written, whatever its values are.

    They follow from the pandas types. For columns of Python objects, such as dates, they are those of the source.
    """
    known = {
        f"{schema.PREFIXES[side]}{field.name}": field.type
        for side, source in sources.items()
        for field in source.schema
    }
    layout = pa.Schema.from_pandas(matches.head(0), preserve_index=False)
    unclear = [name for name in layout.names if matches[name].dtype == object and name in known]
    for name in unclear:
        layout = layout.set(layout.get_field_index(name), pa.field(name, known[name]))
    return layout


def _as_arrow(matches: pd.DataFrame, layout: pa.Schema, place: Place) -> pa.Table:
    """A match table as an Arrow table of these types; `place` is where it will be written."""
    try:
        return writing.as_arrow(matches, matches.attrs, layout)
    except (pa.ArrowException, ValueError, TypeError) as error:
        check_memory(error, place.name)
        raise InputError(f"{place.name}: cannot be written: {first_line(error)}") from None


def _writer(stream: Output, layout: pa.Schema, folder: RunFolder) -> Any:
    """A writer of Parquet whose pages have checksums, and whose metadata names the run."""
    import pyarrow.parquet as pq

    dictionaries = [name for name in DICTIONARIES if name in layout.names]
    layout = layout.with_metadata({**(layout.metadata or {}), "run": folder.identity})
    return pq.ParquetWriter(stream, layout, use_dictionary=dictionaries, write_page_checksum=True)


def _sequences(
    truth: SideColumns, predictions: SideColumns, cut: Collection[Any]
) -> tuple[dict[str, tuple[int, list[Any]]], int, list[tuple[Any, bool, bool]]]:
    """How many sequences only one side has, with the names of the first, by side; and how many both sides have.

    Those in `cut` are not among them; they come last, with whether the truth and whether the predictions have them.
    """
    occurring = {
        "truth": _distinct(truth.objects if truth.frames is None else truth.frames),
        "predictions": _distinct(predictions.objects),
    }
    of_cut = [(name, *(name in names for names in occurring.values())) for name in sorted(cut)]
    occurring = {side: names.difference(list(cut)) if cut else names for side, names in occurring.items()}
    shared = occurring["truth"].intersection(occurring["predictions"])
    only = {side: names.difference(shared) for side, names in occurring.items()}
    listed = {side: (len(names), names[:MOST_LISTED].tolist()) for side, names in only.items()}
    return listed, len(shared), of_cut


def _distinct(table: Columns) -> pd.Index:
    """The sequences of a table, sorted."""
    sequence = table["sequence"]
    if isinstance(sequence, np.ndarray):
        return pd.Index(arrays.distinct(sequence)[0])
    return pd.Index(pd.unique(sequence)).sort_values()
