"""report(): writes a page about submissions, as HTML or Markdown, and a folder of Parquet with the tables behind it."""

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from ...geometries import Measure
from ...matching import Assignment, FrameRule, alignment, match_options, options_with_tracks
from ...support import InputError, is_text, packages, stem, writing
from ...tables import Annotations, By, Table, as_annotations, provenance, selections, table_kinds
from ...tracking import rule_of_sides
from .asked import Asked, Format, asked_of
from .evaluation import EVERY_PAGE, Evaluation, evaluate
from .html.blocks import Kept, Section
from .markdown import About, beside, markdown, shown_in_markdown


def report(
    truth: Annotations | Table,
    submissions: Annotations | Table | Mapping[str, Annotations | Table],
    path: str | Path,
    by: By | Sequence[By] = (),
    tau: float | None = None,
    epsilon: float | None = None,
    *,
    similarity: str | Measure | None = None,
    threshold: float | None = None,
    sigmas: Mapping[Any, float] | None = None,
    distance: Measure | None = None,
    unit: str | None = None,
    assignment: Assignment | None = None,
    power: float | None = None,
    tracks: bool = False,
    frames: FrameRule = "truth",
    exclude: Iterable[int] | Iterable[str] | None = None,
    images: str | Path | None = None,
    tables: str | Path | None = None,
    sections: Sequence[str] | None = None,
    title: str | None = None,
    note: str | None = None,
    format: Format | None = None,
) -> None:
    """Writes a report about one or several submissions as a single HTML page without external files.

    Of every kind the page shows suspected mistakes, the headline metrics with 95% intervals, kinds of error and what
    they cost, where in the image objects are found and how near the predictions are, metrics by slices with the worst
    of them in words, classes, where there are any, and which is taken for which, and the frames with their truths and
    predictions. Several submissions are also compared, with what changed between them, and scores add the metrics at
    each threshold. Which metrics come first depends on the kind:

    - points, and joints one by one: F1 and both mean squared errors. F1 ranks submissions.
    - boxes, and whole poses: AP, if all submissions have scores and are matched by IoU or OKS. AP then ranks, and there
      are precision over recall, AP by category, and the costs of errors in AP. Without scores, F1 ranks.
    - tracks: HOTA with its sides DetA and AssA, then MOTA and IDF1, of joints mota. HOTA ranks, and there are these
      metrics by sequence and by joint, HOTA over alpha, and the switches and gaps by their cause.

    Frames are drawn as points, boxes, masks or skeletons, of tracks also with trails, identities and a time line of
    each object; submissions stand beside or over one another. Clicks in charts and tables, a filter by any column, and
    a gallery lead to the frames, and a link reopens a view. A page has no room for every frame of a large dataset;
    then it has the worst of each submission and a random sample, and says so. It needs the extra `report`.

    Parameters
    ----------
    truth
        Annotations, or a table of objects: `sequence`, `frame`, `object`, `x`, `y` in pixels, for boxes also `w`, `h`,
        and for keypoints, one row a joint, `joint`.
    submissions
        The predictions: Annotations or a table of objects, or for several submissions a dict from their names to these.
        A column `score` adds the metrics at score thresholds, unless all scores are the same. If all submissions have
        it, boxes matched by IoU and whole poses matched by OKS are also evaluated by average precision.
    path
        The page to write.
    by
        Columns of the match table to slice by, each on its own, besides `sequence` and `frame_n_truth`: a name, a list
        of names, or a dict from names to a count of quantile bins (2 to 1000), to the edges of bins, or to None for the
        values as they are.
        All submissions share their bins. Such a list or dict within a list is crossed: by=["frame", {"truth_x": 4,
        "truth_y": 4}].
    tau, epsilon
        The largest distance of a true positive (10 by default), and the tolerance up to which its error is 0 (3 by
        default; 0 where `tau` is at most 3 or `unit` is not "px"), in pixels. With boxes a `tau` matches their centres.
    similarity, threshold
        "iou" (the default for boxes), "oks" for whole poses, "point", or a function of yours from two tables of equally
        many rows, truths and predictions, to a similarity from 0 to 1 for each row; and the least similarity of a true
        positive, 0.5 by default.
    sigmas
        For "oks", which they mean alone, too: a dict from each joint to its standard deviation, as a share of the
        object's size; COCO's by default.
    distance, unit
        A function that measures distances instead of pixels: it gets two DataFrames of equal length, whose rows k are a
        truth and a prediction, and returns a distance of 0 or more for each row. `tau`, which it needs, and `epsilon`
        are then in its unit, and `unit` is the word for that in texts and plots, such as "arcsec".
    assignment, power
        How pairs are chosen: "most" (the default), as many as possible; "least", the least sum of distances to the
        `power` (1 or more, 2 by default), where an object without a partner costs tau^power / 2, as GOSPA and OSPA
        define it; or "score", each prediction the nearest truth that is left, in the order of their scores.
    tracks
        Whether identities count. The tables are then evaluated as `track` does (by `similarity`, or `distance`, and
        `tau`), those of joints as `pose` does. HOTA, MOTA and IDF1 (of poses HOTA and mota) come first, and HOTA ranks
        submissions.
    frames
        "labelled" leaves out predictions that lie in no frame of the truth, and the page counts them. "truth", the
        default: they count as false alarms, or are refused if the truth has a frames table.
    exclude
        Sequences to leave out, a list of strings or of integers like the tables'. A warning names those that no table
        has.
    images
        A folder of pictures of the frames, PNG or JPEG, which are drawn behind the objects: SEQUENCE/FRAME.png (.jpg,
        .jpeg), SEQUENCE/img1/000001.jpg as folders of MOTChallenge have it, or the path that a column `file_name` of
        the truth's frames or objects names below it; the centre of the first pixel is at 0, 0. Frames whose picture is
        missing, damaged, too large to decode or too small for the truths are drawn without it, and one warning says so.
        All pictures of a page together take at most about 12 MB; the page says how many are left out.
    tables
        A folder to write the tables behind the page to, as Parquet, with a README that explains every column.
    sections
        The sections that the page has below its first screen, in this order; all that the data have something for
        without a word. Their names: suspicions, numbers, comparison, changes, precision, tracks, hota, conditions,
        classes, errors, identities, places, thresholds, slices, frames, metrics. What only other sections need is not
        computed, so pictures of the first screen that rest on `errors`, `thresholds` or `frames` are left out with
        these.
    title
        A title above the first sentence, of at most 200 characters.
    note
        What you want to tell the readers, as Markdown of at most 20,000 characters, which stands below the first
        screen. HTML in it is shown as text, and links lead to http, https, mailto and places of the page only.
    format
        "html", or "md" for the description of a pull request: the first sentence, the headline numbers with their
        intervals, and two pictures as SVG beside the file. Without a word, the ending of `path` tells it.

    Returns
    -------
    None.

    Raises
    ------
    InputError: a table lacks a column or has invalid values; the two sides share no sequence, or predictions lie in
        frames that the truth does not have; only one side has boxes and no `tau` is given; a column of `by` is missing;
        `exclude` is no list of the sequences' type; the page or the tables cannot be written, or would replace an
        input; `images` is no folder; the data have nothing for one of the `sections`.
    ValueError: `tau`, `epsilon`, `similarity`, `threshold`, `sigmas`, `distance` or `unit` is out of range, or does not
        fit the others; `sections`, `title`, `note` or `format` is not as described.
    ImportError: the extra `report` is not installed.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import spotgeo_frames as sf
    >>> truth, eager = (sf.read_spotgeo(f"data/sample/{name}.json") for name in ("truth", "eager"))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sf.report(truth, {"eager": eager}, Path(folder) / "report.html")
    ...     [path.name for path in Path(folder).iterdir()]
    ['report.html']
    """
    similarity, distance = (
        table_kinds.of_kind(measure, table_kinds.kind_of(truth)) for measure in (similarity, distance)
    )
    options = (options_with_tracks if tracks else match_options)(
        tau, epsilon, similarity, threshold, sigmas, distance, unit, assignment, power
    )
    if frames not in ("truth", "labelled"):
        raise ValueError(f"frames is {frames!r}; 'truth' or 'labelled' is needed")
    page_path = Path(path)
    folder = None if tables is None else Path(tables)
    images_folder = None if images is None else Path(images)
    asked = check_beforehand(page_path, folder, images_folder, sections, title, note, format)
    from .folder import files  # imported here, because these need the extra and are slow to import
    from .sections.headline import made_with

    known, named = _sides(truth, submissions)
    inputs = provenance.inputs_of(_by_role(known, named))
    for written in _written(page_path, asked):
        _check_kept(written, folder, [file.path for file in inputs])
    slices = [*{tuple(columns): columns for columns in EVERY_PAGE + selections.slicings(by)}.values()]
    tables_of_rows = [table for side in (known, *named.values()) for table in side.of_sequences if table is not None]
    left_out, unknown = selections.excluded_sequences(exclude, tables_of_rows)
    left_out = left_out or []
    if left_out:
        known, named = _without(known, left_out), {name: _without(side, left_out) for name, side in named.items()}
    unlabelled = dict[str, int]()
    if frames == "labelled":
        kept = {name: alignment.labelled_only(known, side) for name, side in named.items()}
        named = {name: side for name, (side, _) in kept.items()}
        unlabelled = {name: count for name, (_, count) in kept.items()}
    [rule, *_] = [rule_of_sides(known, side, options, tracks) for side in named.values()]
    about = made_with(inputs, rule, left_out, known, unlabelled)
    writes = _markdown if asked.format == "md" else _page
    made = writes(lambda: evaluate(known, named, slices, options, rule, tracks, images_folder), about, asked, page_path)
    evaluation = made.evaluation
    notes = provenance.input_notes(inputs) | ({"exclude": ", ".join(map(str, left_out))} if left_out else {})
    of_tables = {} if folder is None else files(made.tables, rule, folder, notes)
    writing.write_together(of_tables | {path: writing.text_file(text) for path, text in made.texts.items()})
    said = [text for section in made.sections for text in section.warnings]
    for text in filter(None, (unknown, *evaluation.warnings, *evaluation.about_pairs, *said)):
        warnings.warn(text, stacklevel=2)


class Made(NamedTuple):
    """The evaluation, the sections with the tables behind them, and the text of each file that is written."""

    evaluation: Evaluation
    sections: Sequence[Section]
    tables: Mapping[str, Kept]
    texts: Mapping[Path, str]


def check_beforehand(
    path: Path,
    tables: Path | None,
    images: Path | None,
    sections: Sequence[str] | None = None,
    title: str | None = None,
    note: str | None = None,
    format: Format | None = None,
) -> Asked:
    """Checks all that can be checked before reading: the extra, what is asked for, and what is to be written or read.

    Raises ImportError if the extra `report` is not installed, ValueError if no page can be as it is asked for, and
    InputError if the page at `path` or the folder `tables` cannot be written, if one would replace the other, or if
    `images` is no folder.
    """
    packages.check_extra("report", "report")
    from .folder import WRITTEN

    asked = asked_of(path, sections, title, note, format)
    for written in _written(path, asked):
        writing.check_file_writable(written)
    if images is not None and (asked.format == "md" or "frames" not in (asked.sections or ["frames"])):
        raise ValueError("report: pictures lie behind the frames, which are not asked for; leave out `images`")
    if tables is not None:
        writing.check_folder_writable(tables)
        with writing.writable(tables):
            page, folder = path.resolve(), tables.resolve()
        is_table = page.parent == folder and any(page.match(pattern) for pattern in WRITTEN)
        if is_table or page in (folder, *folder.parents):
            raise InputError(f"{tables}: cannot be written: {path} is to be the page; give the tables another folder")
    try:
        is_folder = images is None or images.is_dir()
    except (OSError, ValueError):  # the name is too long, or no folder can have it
        is_folder = False
    if not is_folder:
        raise InputError(f"{images}: is no folder of images; give a folder that has SEQUENCE/FRAME.png or .jpg")
    return asked


def _written(path: Path, asked: Asked) -> list[Path]:
    """The files that may be written: the page, and the pictures of Markdown."""
    return [path, *beside(path).values()] if asked.format == "md" else [path]


def _page(evaluate_all: Callable[[], Evaluation], about: About, asked: Asked, path: Path) -> Made:
    """Evaluates, and makes the sections and the page."""
    from .html.document import Told, page  # imported here, because these need the extra and are slow to import
    from .html.notes import note_as_html
    from .html.vega import vega_script
    from .sections import may_have_charts, sections_of, tables_behind
    from .sections.first_screen import first_screen
    from .sections.headline import heading

    note = note_as_html(asked.note) if asked.note else ""
    # Another process bundles the script meanwhile.
    with vega_script() if may_have_charts(asked.sections) else nullcontext(str) as script:
        evaluation = evaluate_all()
        sections = sections_of(evaluation, asked.sections)
        footer = [*about, ("official numbers", evaluation.provenance)]
        first = first_screen(evaluation, sections)
        told = Told(asked.title or heading(evaluation.names), asked.title, first, note, footer)
        content = page(told, sections, evaluation.names, script)
        return Made(evaluation, sections, tables_behind(evaluation, sections), {path: content})


def _markdown(evaluate_all: Callable[[], Evaluation], about: About, asked: Asked, path: Path) -> Made:
    """Evaluates, and makes the Markdown and its pictures."""
    from .html.document import svg  # imported here, because it needs the extra and is slow to import
    from .sections import sections_of, tables_behind
    from .sections.first_screen import first_screen

    evaluation = evaluate_all()
    sections = sections_of(evaluation, ["errors"])  # whose costs are drawn
    first = first_screen(evaluation, sections)
    pictures = shown_in_markdown(first, path)
    texts = {of: svg(picture, first.names) for of, picture in pictures.items()}
    text = markdown(evaluation, first, pictures, about, asked)
    return Made(evaluation, sections, tables_behind(evaluation, sections), {**texts, path: text})


def _sides(
    truth: Annotations | Table, submissions: Annotations | Table | Mapping[str, Annotations | Table]
) -> tuple[Annotations, dict[str, Annotations]]:
    """Checks the truth and the submissions; returns the submissions by name."""
    known = as_annotations(truth, "truth")
    if not isinstance(submissions, Mapping):
        side = as_annotations(submissions, "predictions")
        return known, {stem(Path(provenance.source(side.objects, "submission"))): side}
    if not submissions:
        raise InputError("report: there are no submissions; give one, or a dict of several")
    no_names = [name for name in submissions if not isinstance(name, str) or not name or not is_text(name)]
    if no_names:
        raise InputError(f"report: submissions: {no_names[0]!r} is no name; a text that is not empty is needed")
    return known, {name: as_annotations(side, name) for name, side in submissions.items()}


def _by_role(truth: Annotations, submissions: Mapping[str, Annotations]) -> dict[str, pd.DataFrame | None]:
    """The tables that may come from files, by their role in the report, such as `truth`."""
    roles = ["submission"] if len(submissions) == 1 else [f"submission {name}" for name in submissions]
    objects = (side.objects for side in submissions.values())
    return {"truth": truth.objects, "frames": truth.frames} | dict(zip(roles, objects, strict=True))


def _without(side: Annotations, exclude: Sequence[int | str]) -> Annotations:
    """Annotations without the excluded sequences."""
    frames = None if side.frames is None else selections.without_sequences(side.frames, exclude)
    return side._replace(objects=selections.without_sequences(side.objects, exclude), frames=frames)


def _check_kept(page: Path, folder: Path | None, inputs: Sequence[Path]) -> None:
    """Raises InputError if the report would replace its inputs, write into them, or replace files of no report."""
    writing.check_file_kept(page, inputs)
    if folder is not None:
        from .folder import WRITTEN, earlier_tables

        writing.check_inputs_kept(folder, inputs, WRITTEN)
        earlier_tables(folder)
