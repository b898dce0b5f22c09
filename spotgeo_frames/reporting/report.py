"""report(): from truth and submissions to one HTML page, and to a folder of Parquet with the tables behind it."""

import platform
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..files import check_file_writable, check_folder_writable, make_folder, sha256, stem, write_text
from ..matching import check_thresholds
from ..summary import listed_sequences, without_sequences
from ..tables import SOURCE, Annotations, Table, as_annotations
from ..version import __version__
from . import parquet
from .evaluation import Evaluation, evaluate
from .frame_browser import Held, hold, packed
from .pictures import Pictures, pictures

# Slices that every report has.
ALWAYS = ("sequence", "frame_n_truth")


def report(
    truth: Annotations | Table,
    submissions: Annotations | Table | Mapping[str, Annotations | Table],
    path: str | Path,
    by: Sequence[str] | Mapping[str, int | None] = (),
    tau: float = 10.0,
    epsilon: float = 3.0,
    *,
    exclude: Iterable[int] | Iterable[str] | None = None,
    images: str | Path | None = None,
    tables: str | Path | None = None,
) -> None:
    """Writes a report of one or several submissions as an HTML page that needs nothing else.

    Parameters
    ----------
    truth, submissions
        What `match` takes; of several submissions a dict of names.
    path
        The page to write.
    by
        Columns of the match table to slice by, besides `sequence` and `frame_n_truth`; a dict gives each a number of
        quantile bins, or None for its values as they are.
    tau, epsilon
        As for `match`, px.
    exclude
        Sequences to leave out, as for `summarize`.
    images
        Folder of the frames' pictures, SEQUENCE/FRAME.png, drawn behind the frames; the centre of their first pixel is
        at 0, 0. Frames whose picture is missing, damaged or of another size are drawn without, with one warning.
    tables
        Folder for the tables behind the page as Parquet, with a README that says what they hold.

    Raises
    ------
    InputError: as for `match`, `compare` and `summarize`; a path that cannot be written, no such folder of images.
    ValueError: tau or epsilon out of range.
    ImportError: the extra `report` is not installed.
    """
    tau, epsilon = check_thresholds(tau, epsilon)
    page_path = Path(path)
    folder = None if tables is None else Path(tables)
    images_folder = None if images is None else Path(images)
    check_beforehand(page_path, folder, images_folder)
    known, named = _sides(truth, submissions)
    inputs = _inputs(known, named)
    left_out: Any = [] if exclude is None else listed_sequences(exclude)
    if left_out:
        known, named = _without(known, left_out), {name: _without(side, left_out) for name, side in named.items()}
    made_with = _made_with(inputs, tau, epsilon, left_out, known)
    slices: dict[str, int | None] = dict.fromkeys(ALWAYS)
    slices |= dict(by) if isinstance(by, Mapping) else dict.fromkeys(by)
    evaluation, content = _tables_and_page(known, named, slices, tau, epsilon, images_folder, made_with)
    if folder is not None:
        parquet.write(evaluation, folder, inputs)
    make_folder(page_path.parent)
    write_text(page_path, content)


def check_beforehand(path: Path, tables: Path | None, images: Path | None) -> None:
    """What can be checked before anything is read: the extra, where to write, and the folder of images.

    Raises ImportError and InputError as `report` does.
    """
    missing = [name for name in ("altair", "jinja2", "vl_convert", "PIL") if not _is_there(name)]
    if missing:
        how = "pip install 'spotgeo_frames[report]' (in its source folder: pip install '.[report]')"
        raise ImportError(f"report: {', '.join(missing)} cannot be imported; install the extra: {how}")
    check_file_writable(path)
    if tables is not None:
        check_folder_writable(tables)
    if images is not None and not images.is_dir():
        raise InputError(f"{images}: is no folder of images (SEQUENCE/FRAME.png)")


def _tables_and_page(
    truth: Annotations,
    submissions: Mapping[str, Annotations],
    by: Mapping[str, int | None],
    tau: float,
    epsilon: float,
    images: Path | None,
    made_with: Sequence[tuple[str, str]],
) -> tuple[Evaluation, str]:
    from .charts import charts  # with what the extra brings, which takes a while
    from .library import library
    from .page import page

    with library() as script:  # which is made meanwhile
        evaluation = evaluate(truth, submissions, by, tau, epsilon)
        browser, notes = _browser(evaluation, images)
        return evaluation, page(evaluation, charts(evaluation, tau, epsilon), browser, notes, made_with, script())


def _browser(evaluation: Evaluation, images: Path | None) -> tuple[dict[str, Any], list[str]]:
    """What the frame browser holds, and what to say of it."""
    from .charts import frame_chart

    held = hold(evaluation.matches)
    behind = Pictures({}, None, 0) if images is None else pictures(images, held)
    browser = packed(held, evaluation.names, evaluation.slices["sequence"]) | {
        "spec": frame_chart(held.extent, behind.box),
        "pictures": {"uris": behind.uris, "box": behind.box},
    }
    return browser, _browser_notes(held, behind)


def _is_there(name: str) -> bool:
    try:
        import_module(name)
    except ImportError:
        return False
    return True


def _sides(
    truth: Annotations | Table, submissions: Annotations | Table | Mapping[str, Annotations | Table]
) -> tuple[Annotations, dict[str, Annotations]]:
    """The truth and the submissions by their names, checked."""
    known = as_annotations(truth, "truth")
    if not isinstance(submissions, Mapping):
        side = as_annotations(submissions, "predictions")
        source = side.objects.attrs.get(SOURCE)
        return known, {"submission" if source is None else stem(Path(source)): side}
    if not submissions:
        raise InputError("report: there are no submissions")
    odd = [name for name in submissions if not isinstance(name, str) or not name]
    if odd:
        raise InputError(f"report: {odd[0]!r} is no name of a submission; a string is needed")
    return known, {name: as_annotations(side, name) for name, side in submissions.items()}


def _without(side: Annotations, exclude: Sequence[int] | Sequence[str]) -> Annotations:
    frames = None if side.frames is None else without_sequences(side.frames, exclude)
    return Annotations(without_sequences(side.objects, exclude), frames)


def _inputs(truth: Annotations, submissions: Mapping[str, Annotations]) -> dict[str, Path]:
    """The files that the tables were read from, by what they are, where readers noted them."""
    found = {"truth": truth.objects, "frames": truth.frames}
    for name, side in submissions.items():
        role = "submission" if len(submissions) == 1 else name
        found[role if role not in found else f"submission {role}"] = side.objects
    sources = {role: None if table is None else table.attrs.get(SOURCE) for role, table in found.items()}
    return {role: Path(source) for role, source in sources.items() if source is not None and Path(source).exists()}


def _made_with(
    inputs: Mapping[str, Path], tau: float, epsilon: float, exclude: Sequence[int] | Sequence[str], truth: Annotations
) -> list[tuple[str, str]]:
    """Labels and values of the page's foot."""
    files = [(role, f"{path.name}, SHA-256 {sha256(path)}") for role, path in inputs.items()]
    packages = ("numpy", "pandas", "scipy", "pyarrow", "altair")
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in packages)
    stated = "those of the truth's frames table"
    return [
        *(files or [("inputs", "tables in memory")]),
        ("tau", f"{tau:g} px"),
        ("epsilon", f"{epsilon:g} px"),
        ("left out", ", ".join(map(str, exclude)) or "no sequence"),
        ("frames", stated if truth.frames is not None else "those that occur in the truth or in the submission"),
        ("versions", f"spotgeo_frames {__version__}, Python {platform.python_version()}, {versions}"),
        ("date", f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"),
    ]


def _browser_notes(held: Held, behind: Pictures) -> list[str]:
    """What the reader has to know of what the browser does not hold."""
    n_held, n_frames = len(held.sequences), len(held.rows[["held", "frame"]].drop_duplicates())
    notes = [f"All {n_held:,} sequences are here, the one with most errors first."]
    if n_held < held.n_sequences:
        which = "the worst, by misses and false alarms together, and a sample of the others"
        notes = [f"{n_held:,} of {held.n_sequences:,} sequences are here: {which}."]
    if held.n_cut:
        notes.append(f"Of long sequences only the frames with most errors are here: {held.n_cut:,} are left out.")
    if behind.box is not None:
        n_pictures = sum(map(len, behind.uris.values()))
        notes.append(f"{n_pictures:,} of {n_frames:,} frames have their picture behind them.")
    if behind.n_left_out:
        notes.append(f"{behind.n_left_out:,} pictures more would make the page too large to send; they are left out.")
    return notes
