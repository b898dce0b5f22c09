"""What a command answers: its text for people and its JSON for programs; and what `--out` keeps of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from ..scoring import official
from ..support import InputError, addresses, bins_as_text, plain_value, work, writing
from ..tables import Columns, columns_of
from .layout import sentence
from .printing import one_line
from .submissions import Submission

if TYPE_CHECKING:
    import pandas as pd


class Answer(NamedTuple):
    """The answer of a command: functions that return its text, and what `--json` prints; one of them is called.

    `complaints` are the lines on standard error that go with the JSON, and `status` is the exit status.
    """

    text: Callable[[], str]
    json: Callable[[], str] = str
    complaints: Iterable[str] = ()
    status: int = 0


def heading(submission: Submission, truth: str | Path, rule: str) -> str:
    """The line above the text of an answer: what was evaluated, and how."""
    return sentence(one_line(f"{submission.shown} against {addresses.shown(truth)}, {rule}"))


def plain_rows(table: pd.DataFrame | Columns) -> list[dict[str, Any]]:
    """Converts the rows of a table to plain values that JSON can represent."""
    return [{name: plain_value(value) for name, value in row.items()} for row in columns_of(table).records()]


def rule_words(notes: Mapping[Hashable, Any]) -> dict[str, Any]:
    """Takes the rule from a table's notes: `tau` and `epsilon`, or the `similarity` and its `threshold`.

    Where it is not that without a word, also the `assignment`, and its `power`.
    """
    chosen = {name: notes[name] for name in ("assignment", "power") if name in notes}
    if notes["rule"] == "distance":
        return {name: notes[name] for name in ("tau", "epsilon")} | chosen
    words = {name: notes[name] for name in ("tau", "threshold") if name in notes}
    return {"similarity": notes["rule"]} | words | chosen


def summary_json(summary: pd.DataFrame | Columns, by_slice: Mapping[tuple[str, ...], pd.DataFrame]) -> str:
    """Formats a summary as JSON, with its slices under the key `by`.

    Crossed columns have a key such as `a*b`, and the `value` of each of their rows is a list.
    """
    rule = rule_words(summary.attrs)

    def records(table: pd.DataFrame | Columns) -> list[dict[str, Any]]:
        return [_with_loss(row) | rule for row in plain_rows(table)]

    [answer] = records(summary)
    answer["provenance"] = official.of_matches(summary.attrs)
    if by_slice:
        texts = {columns: bins_as_text(table) for columns, table in by_slice.items()}
        answer["by"] = slices_json(texts, records)
    return formatted(answer)


def slices_json(
    by_slice: Mapping[tuple[str, ...], Any], records: Callable[[Any], list[dict[str, Any]]] = plain_rows
) -> dict[str, list[dict[str, Any]]]:
    """The rows of slices for JSON, by their columns."""
    return {
        "*".join(columns): [_with_value(row, columns) for row in records(table)] for columns, table in by_slice.items()
    }


def _with_loss(row: Mapping[str, Any]) -> dict[str, Any]:
    """Adds 1 - f1, the first number of the competition's leaderboard, after f1."""
    loss = {"one_minus_f1": None if row["f1"] is None else 1 - row["f1"]}
    at = [*row].index("f1") + 1
    return dict([*row.items()][:at]) | loss | dict([*row.items()][at:])


def _with_value(row: Mapping[str, Any], columns: tuple[str, ...]) -> dict[str, Any]:
    """Replaces the columns that a row is sliced by with `value`."""
    values = [row[column] for column in columns]
    others = {name: value for name, value in row.items() if name not in columns}
    return {"value": values[0] if len(values) == 1 else values} | others


def formatted(answer: Mapping[str, Any]) -> str:
    """Formats JSON with an indentation of two spaces; characters of names that a terminal may act on are escaped."""
    text = msgspec.json.format(msgspec.json.encode(answer), indent=2).decode()
    return "\n".join(line if line.isprintable() else _escaped(line) for line in text.split("\n"))


def _escaped(line: str) -> str:
    """A line of JSON with its unprintable characters, all of which stand in strings, as JSON escapes them."""
    return "".join(char if char.isprintable() else json.dumps(char)[1:-1] for char in line)


def check_folder(folder: Path, written: Path) -> None:
    """Raises InputError if a folder that a file needs is not there, most likely because of a typing error."""
    with writing.writable(written):
        is_there = folder.exists()
    if not is_there:
        raise InputError(f"{written}: cannot be written: there is no folder {folder}; make it first, or give another")


def check_written(written: Path | None, inputs: Iterable[Path]) -> None:
    """Raises InputError if a file cannot be written, lacks its folder, or is an input; None is checked for nothing."""
    if written is not None:
        writing.check_file_writable(written)
        check_folder(written.absolute().parent, written)
        writing.check_file_kept(written, inputs)


def written_text(file: Path) -> str:
    """What is said of a file that was written: its name and its size."""
    with suppress(OSError):  # it is written, whether it can be looked at or not
        size = file.stat().st_size
        return f"{file}: {size / 1e6:.1f} MB" if size >= 100_000 else f"{file}: {size / 1e3:.1f} kB"
    return f"{file}"


def check_out(out: Path | None, inputs: Iterable[Path]) -> None:
    """Raises InputError if the folder cannot be written to, or holds an input or anything but an earlier result.

    Nothing is checked without a folder.
    """
    if out is not None:
        # Imported only here, as below: without a folder nobody saves.
        from ..presentation.folders import check_target

        check_target(out, [*inputs])


def keep(
    out: Path | None,
    command: str,
    result: Any,
    answer: str,
    read: Mapping[str, pd.DataFrame | Columns | None],
    beside: Mapping[str, pd.DataFrame] | None = None,
    **notes: str,
) -> None:
    """Saves a result to the folder, with the answer, the JSON that `--json` prints; does nothing without a folder.

    `beside` are further tables. `read` are the tables that were read, by their roles, such as truth. The names and
    digests of their files go into the metadata of each table, and so do those of the `notes` that are not empty. Raises
    InputError if a file cannot be written.
    """
    if out is not None:
        from ..presentation.folders import save_result

        known = {name: note for name, note in notes.items() if note}
        with work.step("writing the tables"):
            save_result(result, out, read, beside, {f"{command}.json": f"{answer}\n"}, known)
