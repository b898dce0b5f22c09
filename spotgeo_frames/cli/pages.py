"""The command `report`."""

from collections.abc import Sequence
from pathlib import Path

from ..presentation.page import LONGEST_NOTE, Format, check_beforehand
from ..presentation.page import report as write_report
from ..support import InputError, reading, work
from .answers import Answer, check_folder, written_text
from .arguments import How, slices_of
from .printing import WrongUsage, one_line
from .saved import Saved, check_conditions, check_saved, is_of_precision, predictions_of, read_given
from .submissions import Submission


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
    with work.step("making the page"):
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


def _note(path: Path | None) -> str | None:
    """The text of a file of Markdown."""
    if path is None:
        return None
    content = reading.read_bytes(path, 1 << 20, f"a note has at most {LONGEST_NOTE:,} characters")
    return reading.utf8_text(content, str(path), "Markdown")
