"""MOTChallenge folders: boxes of tracked objects, a text file a sequence.

A line is `frame, identity, left, top, width, height, ...`, frames counted from 1, boxes in pixels. In truth follow the
mark (0: not to be evaluated), the class and the visibility; in a tracker's output a score, and what nobody uses.

    TRUTH_DIR/SEQUENCE/gt/gt.txt   with TRUTH_DIR/SEQUENCE/seqinfo.ini, which tells its length, where there is one
    TRUTH_DIR/SEQUENCE.txt         the flat layout
    TRACKER_DIR/SEQUENCE.txt       and either flat layout as a .zip

Where a sequence's length is not known, it ends with the last row of either side.

Known differences from trackeval 1.3.0 (datasets/mot_challenge_2d_box.py), which is otherwise followed, cutting off the
decimals of marks and classes included:

    - Frames and identities that are no whole numbers are refused; there they are cut off. Negative identities are names
      like any other; there they are positions from the end.
    - Tracker files of other sequences are refused; there they are not looked at.
    - In MOT15, which has no classes, the eighth field of a tracker's line is not taken for one: it is a coordinate.
    - Classes of the truth that do not exist are refused wherever they are, not only in frames with predictions.
"""

import configparser
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa

from ..errors import InputError
from ..files import is_file_name, read_archive, read_bytes, write_files
from ..keys import repeated, row_keys, stable_order
from ..progress import progress
from ..tables import FRAME_KEY, LARGEST_EXACT_INTEGER, SOURCE, Annotations, Table, as_annotations
from .inspection import MOST_PROBLEMS

CLASSES = {
    "pedestrian": 1,
    "person_on_vehicle": 2,
    "car": 3,
    "bicycle": 4,
    "motorbike": 5,
    "non_mot_vehicle": 6,
    "static_person": 7,
    "distractor": 8,
    "occluder": 9,
    "occluder_on_ground": 10,
    "occluder_full": 11,
    "reflection": 12,
    "crowd": 13,
}

# A frame number beyond this is a slip, or meant to fill the memory.
MOST_FRAMES = 10_000_000

LARGEST_FLOAT = float(np.finfo(np.float64).max)

GEOMETRY = ["x", "y", "w", "h"]
INTEGERS = ["frame", "object", "considered", "class_id"]  # as such, decimals are cut off
FIELDS = ["frame", "object", *GEOMETRY]


class File(NamedTuple):
    """One sequence of one side: its name, what messages call its file, and what reads it."""

    sequence: str
    name: str
    read: Callable[[], bytes]


class Kind(NamedTuple):
    """The fields of a side after FIELDS: those every line must have, and those it may have."""

    needed: list[str]
    optional: list[str]


class Rows(NamedTuple):
    """The columns of one file as float64, checked, and the rows in the order of frames, or None if they are."""

    columns: dict[str, np.ndarray]
    order: np.ndarray | None


class Rule(NamedTuple):
    """The values of a column lie between `low` and `high`, and are whole; `problem` says of one that it is not so."""

    column: str
    low: float
    high: float
    whole: bool
    problem: str


TRUTH = Kind(["considered"], ["class_id", "visibility"])
PREDICTIONS = Kind(["score"], ["class_id"])


def read_folders(truth_dir: Path, tracker_dir: Path, has_classes: bool) -> tuple[Annotations, Annotations]:
    """All rows of the truth and of the predictions of the sequences in a folder of truth, as the files have them.

    Truth has, after the box, `considered` (the mark), `class_id` unless the benchmark has no classes, and `visibility`
    where there is one; predictions have `score`. The truth's frames are those from 1 to the length of each sequence.
    Rows are in the order of frames, and within a frame that of the file. Raises InputError where a file is missing, is
    of a sequence that is not known, or holds lines that cannot be used.
    """
    truth_files = _truth_files(truth_dir)
    tracker_files = _tracker_files(tracker_dir, [file.sequence for file in truth_files], truth_dir)
    lengths = _lengths(truth_dir, truth_files)
    kinds = [TRUTH] * len(truth_files) + [PREDICTIONS] * len(tracker_files)
    with ThreadPoolExecutor(2) as threads:  # pyarrow parses without holding the interpreter
        waiting = [
            threads.submit(_read, file, kind, lengths.get(file.sequence), has_classes)
            for file, kind in zip(truth_files + tracker_files, kinds, strict=True)
        ]
        for future in progress(waiting, "reading", "file"):
            future.exception()  # waits; problems are gathered below, over all files
    problems = [problem for future in waiting for problem in getattr(future.exception(), "problems", [])]
    if problems:
        raise InputError(problems)
    rows = [future.result() for future in waiting]
    truth = _table(truth_files, rows[: len(truth_files)], truth_dir)
    predictions = _table(tracker_files, rows[len(truth_files) :], tracker_dir)
    frames = _frames(truth_files, lengths, rows)
    return Annotations(truth, frames), Annotations(predictions)


def _truth_files(folder: Path) -> list[File]:
    """The sequences of a folder of truth, in the order of their names."""
    if not folder.is_dir():
        return _flat_files(folder)
    nested = {
        path.name: path / "gt" / "gt.txt"
        for path in folder.iterdir()
        if path.is_dir() and ((path / "gt").is_dir() or (path / "seqinfo.ini").exists())
    }
    if not nested:
        return _flat_files(folder)
    return [File(name, str(path), partial(read_bytes, path)) for name, path in sorted(nested.items())]


def _tracker_files(folder: Path, sequences: Sequence[str], truth_dir: Path) -> list[File]:
    """The tracker's files of the sequences; raises InputError where one is missing or is of another sequence."""
    found = {file.sequence: file for file in _flat_files(folder)}
    problems = [
        f"{folder}: {name}.txt is missing; a tracker that found nothing there has an empty file"
        for name in sequences
        if name not in found
    ]
    problems += [
        f"{file.name}: there is no sequence {name} in {truth_dir}"
        for name, file in found.items()
        if name not in set(sequences)
    ]
    if problems:
        raise InputError(problems)
    return [found[name] for name in sequences]


def _flat_files(folder: Path) -> list[File]:
    """The .txt files of a folder, or of an archive whatever folders they lie in there, in the order of their names."""
    if folder.is_dir():
        paths = sorted(path for path in folder.glob("*.txt") if path.is_file())
        files = [File(path.stem, str(path), partial(read_bytes, path)) for path in paths]
    elif folder.suffix.lower() == ".zip":
        members = sorted(read_archive(folder).items())
        texts = [(PurePosixPath(name), content) for name, content in members if name.endswith(".txt")]
        files = [File(name.stem, f"{folder}, {name}", partial(bytes, content)) for name, content in texts]
        names = [file.sequence for file in files]
        twice = sorted({name for name in names if names.count(name) > 1}) if len({*names}) < len(names) else []
        if twice:
            raise InputError([f"{folder}: holds {name}.txt more than once" for name in twice])
    elif folder.exists():
        raise InputError(f"{folder}: is neither a folder nor a .zip archive")
    else:
        raise InputError(f"{folder}: there is no such folder")
    if not files:
        inner = [path for path in (folder / "data", folder / "gt", folder / "data.zip") if path.exists()]
        hint = f"; is {inner[0]} meant?" if inner else ""
        raise InputError(f"{folder}: holds no sequences: neither SEQUENCE/gt/gt.txt nor SEQUENCE.txt{hint}")
    return files


def _lengths(truth_dir: Path, files: Sequence[File]) -> dict[str, int]:
    """The number of frames of the sequences that have a seqinfo.ini."""
    lengths, problems = {}, []
    for file in files:
        path = truth_dir / file.sequence / "seqinfo.ini"
        if not path.is_file():
            continue
        parser = configparser.ConfigParser(interpolation=None)
        try:
            parser.read_string(path.read_text("utf-8"))
            length = int(parser["Sequence"]["seqLength"])
            if not 0 <= length <= MOST_FRAMES:
                raise ValueError(f"seqLength is {length}; 0 to {MOST_FRAMES} is possible")
            lengths[file.sequence] = length
        except (OSError, ValueError, KeyError, configparser.Error) as error:
            what = f"there is no {error}" if isinstance(error, KeyError) else str(error).splitlines()[0]
            problems.append(f"{path}: cannot be read: {what}")
    if problems:
        raise InputError(problems)
    return lengths


def _read(file: File, kind: Kind, length: int | None, has_classes: bool) -> Rows:
    """The rows of a file; raises InputError with all that is wrong with it."""
    content = file.read()
    columns, lines = _parsed(content, kind), None
    if columns is None:
        columns, lines = _parsed_slowly(content, file.name, kind)
    if kind is TRUTH and has_classes and "class_id" not in columns and len(columns["frame"]):
        raise InputError(f"{file.name}: 7 fields a line; at least 8 are needed: the eighth is the class")
    problems = _problems(columns, _rules(kind, length, has_classes))
    if problems:
        numbers = lines or [number for number, line in enumerate(content.splitlines(), 1) if line.strip()]
        raise InputError([f"{file.name}, line {numbers[row]}: {what}" for row, what in problems])
    unused = {"class_id"} if kind is PREDICTIONS else {} if has_classes else {"class_id", "visibility"}
    frame = columns["frame"]
    order = None
    if np.any(np.diff(frame) < 0):
        order = stable_order(frame.astype(np.int64), int(frame.max()) + 1)
    return Rows({name: column for name, column in columns.items() if name not in unused}, order)


def _parsed(content: bytes, kind: Kind) -> dict[str, np.ndarray] | None:
    """The columns of a file as float64, or None where something in it is unusual."""
    from pyarrow import csv

    first = content[: content.find(b"\n") + 1 or None].strip()
    if not first:
        return None
    names = [*FIELDS, *kind.needed, *kind.optional][: first.count(b",") + 1]
    every = [f"f{position}" for position in range(len(names))]
    try:
        table = csv.read_csv(
            pa.BufferReader(content),
            csv.ReadOptions(use_threads=False, autogenerate_column_names=True),
            csv.ParseOptions(quote_char=False),
            csv.ConvertOptions(
                include_columns=every, column_types=dict.fromkeys(every, pa.float64()), null_values=[], check_utf8=False
            ),
        )
    except (pa.ArrowException, ValueError):
        return None
    if len(names) < len(FIELDS) + len(kind.needed):
        return None
    return {name: column.to_numpy() for name, column in zip(names, table.columns, strict=True)}


def _parsed_slowly(content: bytes, name: str, kind: Kind) -> tuple[dict[str, np.ndarray], list[int]]:
    """The same, a line at a time: the columns, and the number of each row's line. Raises InputError."""
    names = [*FIELDS, *kind.needed, *kind.optional]
    n_needed = len(FIELDS) + len(kind.needed)
    rows: list[list[float]] = []
    lines: list[int] = []
    problems: list[str] = []
    text = content.decode("utf-8-sig", "replace")
    first = text.lstrip().partition("\n")[0]
    separator = next((mark for mark in ",;\t" if mark in first), None)
    for number, line in enumerate(text.splitlines(), 1):
        if len(problems) >= MOST_PROBLEMS:
            problems.append(f"{name}, line {number}: and what follows was not looked at")
            break
        fields = [field.strip() for field in line.split(separator)]
        if not any(fields):
            continue
        if fields[-1] == "":
            fields.pop()
        if len(fields) < n_needed:
            wanted = ", ".join(names[:n_needed])
            problems.append(f"{name}, line {number}: {len(fields)} fields; at least {n_needed} are needed: {wanted}")
            continue
        try:
            rows.append([float(field) for field in fields[: len(names)]])
            lines.append(number)
        except ValueError:
            field = next(field for field in fields if not _is_number(field))
            problems.append(f"{name}, line {number}: {field[:40]!r} is not a number")
    if problems:
        raise InputError(problems)
    width = min((len(row) for row in rows), default=len(names))
    table = np.array([row[:width] for row in rows], np.float64).reshape(-1, width)
    return dict(zip(names, table.T, strict=False)), lines


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _rules(kind: Kind, length: int | None, has_classes: bool) -> list[Rule]:
    """What the values of a file have to be."""
    last = MOST_FRAMES if length is None else length
    wanted = "whole numbers from 1" if length is None else f"1 to {length}, as seqinfo.ini says"
    rules = [
        Rule("frame", 1, last, True, f"frame {{:g}} is out of range; frames are {wanted}"),
        Rule("object", -LARGEST_EXACT_INTEGER, LARGEST_EXACT_INTEGER, True, "identity {:g} is not a whole number"),
    ]
    finite = -LARGEST_FLOAT, LARGEST_FLOAT, False
    rules += [Rule(name, *finite, f"{name} is {{}}, which is not finite") for name in GEOMETRY]
    if kind is TRUTH:
        rules.append(Rule("considered", *finite, "the mark in field 7 is {}; 0 or 1 is needed"))
    if not has_classes:
        return rules
    # Decimals are cut off, so a class is what lies below the next one.
    if kind is TRUTH:
        wanted = f"class {{:g}} is unknown; classes are 1 to {len(CLASSES)}"
        return [*rules, Rule("class_id", 1, np.nextafter(len(CLASSES) + 1, 0), False, wanted)]
    wanted = "class {:g} is not evaluated; only pedestrians (1) are"
    return [*rules, Rule("class_id", -LARGEST_FLOAT, np.nextafter(2, 0), False, wanted)]


def _problems(columns: Mapping[str, np.ndarray], rules: Sequence[Rule]) -> list[tuple[int, str]]:
    """What is wrong with the values of a file: row and problem, in the order of the rows."""
    found = []
    for rule in rules:
        values = columns.get(rule.column, np.zeros(0))
        right = (values >= rule.low) & (values <= rule.high)  # NaN is neither
        if rule.whole:
            right &= values == np.floor(values)
        rows = np.flatnonzero(~right)[:MOST_PROBLEMS].tolist()
        found += [(row, rule.problem.format(values[row])) for row in rows]
    if found:
        return sorted(found)
    keys = row_keys({name: pd.Series(columns[name].astype(np.int64)) for name in ("frame", "object")}, FIELDS[:2])
    named = (columns["object"], columns["frame"])
    return [
        (row, "identity {:.0f} is in frame {:.0f} more than once".format(*(column[row] for column in named)))
        for row in np.flatnonzero(repeated(keys)).tolist()
    ]


def _table(files: Sequence[File], parts: Sequence[Rows], source: Path) -> pd.DataFrame:
    """One table of the files' rows, in the order of frames; a column that not every file has is left out."""
    lengths = [len(part.columns["frame"]) for part in parts]
    ends = np.cumsum(lengths).tolist()
    names = pd.Series([file.sequence for file in files], dtype="str").array
    joined: dict[str, Any] = {"sequence": names.take(np.repeat(np.arange(len(files)), lengths))}
    filled = [part for part, length in zip(parts, lengths, strict=True) if length] or parts[:1]
    kept = [name for name in filled[0].columns if all(name in part.columns for part in filled)]
    # In one piece, which the system hands out much faster than many small ones.
    block = np.empty((len(kept), ends[-1]))
    for name, whole in zip(kept, block, strict=True):
        whole = whole.view(np.int64) if name in INTEGERS else whole
        for part, end, length in zip(parts, ends, lengths, strict=True):
            if length:
                values = part.columns[name]
                whole[end - length : end] = values if part.order is None else values[part.order]
        joined[name] = whole != 0 if name == "considered" else whole
    table = pd.DataFrame(joined, copy=False)
    table.attrs[SOURCE] = str(source)
    return table


def _frames(files: Sequence[File], lengths: Mapping[str, int], parts: Sequence[Rows]) -> pd.DataFrame:
    """The frames of each sequence, from 1 to its length, or to the last row of either side."""
    last = [int(part.columns["frame"].max(initial=0)) for part in parts]
    ends = np.maximum(last[: len(files)], last[len(files) :]).tolist()
    known = [lengths.get(file.sequence, end) for file, end in zip(files, ends, strict=True)]
    names = pd.Series([file.sequence for file in files], dtype="str").array
    starts = np.cumsum(known) - known
    return pd.DataFrame(
        {
            "sequence": names.take(np.repeat(np.arange(len(files)), known)),
            "frame": np.arange(sum(known)) - np.repeat(starts, known) + 1,
        },
        copy=False,
    )


def write_motchallenge(annotations: Annotations | Table, folder: str | Path, *, truth: bool = False) -> None:
    """Writes boxes as text files that `read_motchallenge` and the official evaluator read.

    Predictions go to `folder`/SEQUENCE.txt, with `score` (1 where there is none) after the box and then three times -1.
    Truth goes to `folder`/SEQUENCE/gt/gt.txt, with `considered` and `class_id` (1 where there are none) and
    `visibility` where there is one, and a seqinfo.ini where there is a frames table. Where `folder` ends in .zip, it is
    an archive of SEQUENCE.txt for both. Every sequence of the frames table has a file, be it empty. Floats are written
    as short as they can be to be read back as they are.

    Raises InputError where the table is not right, frames are below 1, identities are not integers, a sequence's name
    cannot be that of a file, or nothing can be written there.
    """
    folder = Path(folder)
    objects, frames = as_annotations(annotations, "annotations")
    known = objects[FRAME_KEY] if frames is None else pd.concat([objects[FRAME_KEY], frames[FRAME_KEY]])
    last = known.groupby(known["sequence"].astype("str"))["frame"].agg(["min", "max"])
    problems = [f"annotations: column {column} is missing" for column in ("w", "h") if column not in objects]
    problems += [
        f"annotations: sequence {name!r} cannot be a file's name" for name in last.index if not is_file_name(name)
    ]
    problems += [f"annotations: sequence {name}: frames count from 1" for name in last.index[last["min"] < 1]]
    if objects["object"].dtype != np.int64:
        problems.append("annotations: column object is of type str; the format knows integers only")
    if problems:
        raise InputError(problems)
    table = _fields(objects, truth)
    rows = table.groupby(objects["sequence"].astype("str"), sort=False).indices
    texts = {name: _text(table.iloc[rows.get(name, np.zeros(0, np.int64))]) for name in last.index}
    if not truth or folder.suffix.lower() == ".zip":
        write_files({f"{name}.txt": text for name, text in texts.items()}, folder)
        return
    files = {f"{name}/gt/gt.txt": text for name, text in texts.items()}
    if frames is not None:
        files |= {
            f"{name}/seqinfo.ini": f"[Sequence]\nname={name}\nseqLength={end}\n".encode()
            for name, end in last["max"].items()
        }
    write_files(files, folder)


def _fields(objects: pd.DataFrame, truth: bool) -> pd.DataFrame:
    """The fields of each line."""
    boxes = objects[FIELDS]
    if not truth:
        scores = objects["score"].fillna(1.0) if "score" in objects else 1.0
        return boxes.assign(score=scores, world_x=-1, world_y=-1, world_z=-1)
    marks = {name: objects[name].astype("int64") if name in objects else 1 for name in ("considered", "class_id")}
    return boxes.assign(**marks, **({"visibility": objects["visibility"]} if "visibility" in objects else {}))


def _text(table: pd.DataFrame) -> bytes:
    """The rows in the order of frames, as text."""
    from pyarrow import csv

    text = pa.BufferOutputStream()
    ordered = pa.Table.from_pandas(table.sort_values("frame", kind="stable"), preserve_index=False)
    csv.write_csv(ordered, text, csv.WriteOptions(include_header=False))
    return text.getvalue().to_pybytes()
