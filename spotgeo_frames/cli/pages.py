"""The command `report`."""

import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from ..presentation.page import LONGEST_NOTE, Format, check_beforehand
from ..presentation.page import report as write_report
from ..support import InputError, reading
from .answers import Answer, check_folder, written_text
from .arguments import How, slices_of
from .printing import WrongUsage, one_line
from .saved import Saved, check_conditions, check_saved, is_of_precision, predictions_of, read_given
from .submissions import Submission

# What Altair loads where it is installed and no page needs: jsonschema's check of one format, which takes as long as
# all the rest, and the widget of charts.
UNNEEDED = ("rfc3987_syntax", "anywidget")


def report(
    truth: Path,
    submissions: Sequence[Submission],
    out: Path,
    by: Sequence[str],
    how: How,
    exclude: str,
    frames: Path | None,
    images: Path | None,
    tables: Path | None,
    sections: list[str] | None,
    title: str | None,
    note: Path | None,
    format: Format | None,
) -> Answer:
    """Writes the page and, if asked, the tables behind it; the answer is where they are."""
    slices = slices_of(by)
    _load_charts()
    told = _note(note)
    try:
        check_beforehand(out, tables, images, sections, title, told, format)
    except ValueError as error:
        raise error if isinstance(error, InputError) else WrongUsage(str(error)) from None
    check_folder(out.absolute().parent.parent, out)
    given = read_given(truth, submissions, how, exclude, frames)
    how.warn_of_classes("report")
    saved = [side for side in given.named.values() if isinstance(side, Saved)]
    check_conditions({name: side for name, side in given.named.items() if isinstance(side, Saved)}, None)
    for of_precision in (False, True):
        same = [side for side in saved if is_of_precision(side) == of_precision]
        check_saved(given._replace(of_precision={}), same, of_precision=of_precision)  # the page's is official
    write_report(
        given.truth,
        {name: predictions_of(submission) for name, submission in given.named.items()},
        out,
        slices,
        **given.how.options._asdict(),
        tracks=how.tracks,
        frames=how.frames,
        exclude=given.exclude,
        images=images,
        tables=tables,
        sections=sections,
        title=title,
        note=told,
        format=format,
    )
    written = written_text(out)
    return Answer(lambda: one_line(written if tables is None else f"{written}; {tables}: the tables"))


def _load_charts() -> None:
    """Loads Altair without UNNEEDED modules; the process is the command's own, so nothing else misses them."""
    hidden = [name for name in UNNEEDED if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type] # None: a module that cannot be imported
    try:
        with suppress(ImportError):  # what is missing is told later
            import_module("altair")
    finally:
        for name in hidden:
            del sys.modules[name]


def _note(path: Path | None) -> str | None:
    """The text of a file of Markdown."""
    if path is None:
        return None
    content = reading.read_bytes(path, 1 << 20, f"a note has at most {LONGEST_NOTE:,} characters")
    return reading.utf8_text(content, str(path), "Markdown")
