"""The values that texts of arguments stand for: rules, sequences, columns to slice by."""

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, get_args

from ..formats import BENCHMARKS, Layout, Needed, is_table, read_sides, sequence_layout
from ..geometries import Measure
from ..matching import FrameRule, MatchOptions, match_options, options_with_tracks
from ..support import InputError, addresses, work
from ..tables import Annotations, CheckedBins, SideColumns, other_words, schema, selections
from .printing import WrongUsage
from .submissions import Submission

# The columns that --columns may name.
TIDIED = ("sequence", "frame", "object", "joint", *schema.BOX, "z", "ra", "dec", "box", "keypoints", "mask")
TIDIED += ("score", "category", "area", "crowd", "ignore", "visibility")

# The columns of the classes that benchmarks evaluate, and of their classes of classes.
CLASS, PARENT = "category", f"{schema.CATEGORY_PREFIX}parent"

# Longer ranges of sequences are refused as typing errors.
MOST_SEQUENCES = 10_000_000


class How(NamedTuple):
    """How files are evaluated.

    `options` are those of the rule, and `tracks` says whether identities count. `layout` is that of folders that have a
    file for each sequence, and `benchmark` the one whose files they are and whose rules apply, None if it is not given;
    all of them count as of MOTChallenge's layout, since objects are whole.
    `frames` says which frames count, and `needed` what the command needs of wide tables. `masks` says that COCO's files
    are read for their masks. `protocol` is that of average precision, None where none is asked for. `on_request` are
    the metrics of tracks that are computed on request only, by their families. `distances` are those of average
    precision where several are given; the rule has the largest.
    """

    options: MatchOptions
    tracks: bool
    layout: Layout | None
    benchmark: str | None
    frames: FrameRule
    needed: Needed
    masks: bool = False
    protocol: str | None = None
    on_request: Sequence[str] = ()
    distances: Sequence[float] = ()

    @property
    def by_class(self) -> bool:
        """Whether the benchmark evaluates each of several classes by itself."""
        return self.benchmark is not None and len(BENCHMARKS[self.benchmark].classes) > 1

    def check_by(self, by: Iterable[str]) -> None:
        """Raises WrongUsage if the benchmark slices by class, and `by` asks for others than the classes it has."""
        if self.benchmark is None or not self.by_class:
            return
        of_classes = [CLASS, *([PARENT] if BENCHMARKS[self.benchmark].parents else [])]
        others = [text for text in by if text not in of_classes]
        if others:
            why = f"{self.benchmark} is evaluated by class, and takes only {' and '.join(of_classes)}"
            rows = f"the rows of one class of what sf.read_benchmark(truth, tracker, {self.benchmark!r}) returns"
            raise WrongUsage(f"--by: {others[0]}: {why}; in Python, sf.track(..., by=...) takes conditions of {rows}")

    def warn_of_classes(self, command: str) -> None:
        """Warns that a command evaluates the classes of a benchmark together, which its kit does not."""
        if self.by_class:
            kit = f"{self.benchmark} evaluates each class by itself, as track, compare, gate and diagnose do"
            warnings.warn(f"{command}: {kit}; here all classes are evaluated together", stacklevel=3)

    @property
    def told(self) -> str | Measure | None:
        """What tells that JSON is COCO's, and what is read of it."""
        return "masks" if self.masks else self.options.similarity


def with_how(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a command with the options of the rule as `how`.

    Identities count where the option says so, and where the truth is a folder of tracks or poses. Raises WrongUsage if
    the options do not fit each other or the truth.
    """
    words = ("tau", "epsilon", "similarity", "threshold", "assignment", "power")
    rule = {name: given[name] for name in words if name in given}
    apart = (*rule, "tracks", "benchmark", "labelled", "columns", "box_format", "masks", "protocol")
    others = {name: value for name, value in given.items() if name not in apart}
    tracks, benchmark = given.get("tracks", False), given.get("benchmark")
    distances = given["tau"] if isinstance(given.get("tau"), list) else []
    if distances:
        rule["tau"] = max(distances)
    layout = _layout(given, benchmark)
    tracks = tracks or layout is not None
    try:
        options = options_with_tracks(**rule) if tracks else match_options(**rule)
    except ValueError as error:
        raise WrongUsage(str(error).replace("with tracks=True", "to tracks")) from None
    if given.get("columns") or given.get("box_format"):
        if given.get("dataset"):
            raise WrongUsage("--columns: a --dataset is read in parts, with the columns that it has; leave it out")
        if layout is not None:
            raise WrongUsage(f"--columns: is for tables, and {given['truth']} is a folder of files; leave it out")
        check_tables(given["truth"], paths_of(given))
    if layout == "posetrack" and any(word is not None for word in options):
        raise WrongUsage("poses are measured in head sizes; leave out --tau and --similarity")
    frames: FrameRule = "labelled" if given["labelled"] else "truth"
    masks = given.get("masks", False)
    if masks and options.similarity not in (None, "iou", "boundary_iou"):
        raise WrongUsage("--masks: masks are compared by --similarity iou or boundary_iou; leave out one of them")
    needed, protocol = needed_columns(given), given.get("protocol")
    how = How(options, tracks, layout, benchmark, frames, needed, masks, protocol, distances=distances)
    return others | {"how": how}


def _layout(given: Mapping[str, Any], benchmark: str | None) -> Layout | None:
    """The layout of the truth; raises WrongUsage if it is not that of the benchmark."""
    if benchmark is not None and benchmark not in BENCHMARKS:
        raise WrongUsage(f"--benchmark: {benchmark!r} is none of {', '.join(BENCHMARKS)}")
    if benchmark is not None and given.get("dataset"):
        raise WrongUsage("--benchmark: is for files of a benchmark, and a --dataset is Parquet; leave it out")
    files = None if benchmark is None else BENCHMARKS[benchmark].files
    if files not in (None, "motchallenge", "posetrack"):
        return "motchallenge"  # what reads them says what is missing
    if given.get("dataset") and addresses.is_address(given["truth"]):  # such a dataset is evaluated where it is
        return None
    layout = sequence_layout(given["truth"])
    if files is None:
        return layout
    if layout != "motchallenge" and layout != files:
        folders = "MOTChallenge" if files == "motchallenge" else "PoseTrack or in MOTChallenge's layout"
        raise WrongUsage(f"--benchmark: {benchmark} is for folders of {folders}, and {given['truth']} is none")
    return "motchallenge"


def paths_of(given: Mapping[str, Any]) -> list[str | Path]:
    """The paths of the tables and other files that a command with these arguments reads."""
    values = [value for of in given.values() for value in (of if isinstance(of, list) else [of])]
    paths = [value.path for value in values if isinstance(value, Submission)]
    others = (given.get(name) for name in ("truth", "submission", "frames"))
    return [*paths, *(path for path in others if isinstance(path, str | Path))]


def needed_columns(given: Mapping[str, Any]) -> Needed:
    """What a command with these arguments needs of wide tables: columns to slice by, and where others would be kept."""
    by = given.get("by") or ()
    slices = slices_of([by] if isinstance(by, str) else by)
    keeps = given.get("out") is not None or bool(given.get("video"))  # which reads the names of pictures
    identity = [f"{prefix}{given['identity']}" for prefix in schema.SIDE_PREFIXES] if "identity" in given else []
    named = [*identity, *(column for columns in slices for column in columns)]
    return Needed(named, keeps, tidy_arguments(given.get("columns"), given.get("box_format")))


def tidy_arguments(columns: str | None, box_format: str | None) -> dict[str, Any]:
    """The arguments of `tidy` that stand in texts such as frame=image_id,x=xmin and xyxy; raises WrongUsage else."""
    if columns is None and box_format is None:
        return {}
    given: dict[str, Any] = {}
    for item in (columns or "").split(",") if columns else []:
        column, equals, name = item.partition("=")
        if not equals or column not in TIDIED or not name:
            raise WrongUsage(f"--columns: {item!r} is no COLUMN=NAME with a column of {', '.join(TIDIED)}")
        if column in given:
            raise WrongUsage(f"--columns: {column} is given twice; give it once")
        given[column] = name
    if box_format is not None:
        if box_format not in get_args(other_words.BoxFormat):
            formats = ", ".join(get_args(other_words.BoxFormat))
            raise WrongUsage(f"--box-format: {box_format!r} is none of {formats}")
        lacking = [name for name in schema.BOX if name not in given]
        if "box" not in given and len(lacking) < len(schema.BOX):
            if lacking or box_format in ("cxcywha", "corners"):
                needed = "box=, a column of lists" if not lacking else f"{', '.join(lacking)} in --columns, or box="
                raise WrongUsage(f"--box-format {box_format}: needs {needed}")
            given["box"] = [given.pop(name) for name in schema.BOX]
        given["box_format"] = box_format
    return given


def check_tables(truth: str | Path, paths: Sequence[str | Path]) -> None:
    """Raises WrongUsage unless some of the paths are tables, whose columns may have other names."""
    if not any(is_table(path) for path in paths):
        kinds = "Parquet, CSV or Arrow"
        raise WrongUsage(f"--columns: is for tables ({kinds}), and {truth} is none, nor are the others; leave it out")


def check_scheduler(scheduler: str | None, dataset: bool) -> None:
    """Raises WrongUsage if a cluster is to evaluate what is no dataset."""
    if scheduler is not None and not dataset:
        raise WrongUsage("--scheduler: is for a --dataset; give both")


def read_pair(truth: Path, submission: Submission, how: How) -> tuple[Annotations, Annotations]:
    """The truth and a submission; raises InputError where a file cannot be accepted."""
    known, [found] = read_submissions(truth, [submission.path], how)
    return known, found


def read_submissions(
    truth: Path,
    submissions: Sequence[Path],
    how: How,
    frames: Path | None = None,
    similarity: str | Measure | None = None,
) -> tuple[Annotations, list[Annotations]]:
    """The truth, and the submissions; raises InputError where a file cannot be accepted.

    COCO's files are told by the rule's similarity, or by another that is given; they have no tracks.
    """
    similarity = None if how.tracks else how.told or similarity
    with work.step("reading"):
        known, *sides = read_sides(truth, submissions, frames, similarity, how.benchmark, how.needed)
    return known, sides


def sequence_numbers(text: str, option: str) -> list[int]:
    """Parses a list of sequences such as 5,9-12."""
    sequences: list[int] = []
    for item in text.split(","):
        ends = re.fullmatch(r"\s*(-?\d{1,18})(?:-(\d{1,18}))?\s*", item)
        if not ends:
            raise WrongUsage(f"{option}: {item!r} is neither a number nor a range such as 9-12")
        first, last = int(ends[1]), int(ends[2] or ends[1])
        if last < first or last - first >= MOST_SEQUENCES:
            raise WrongUsage(f"{option}: {item!r} is not a range of 1 to {MOST_SEQUENCES:,} sequences")
        sequences.extend(range(first, last + 1))
    return sequences


def sequence_names(text: str, is_integer: bool) -> list[int] | list[str] | None:
    """Parses --exclude to integers or texts, like the data's sequences; None if the option is not given."""
    if not text:
        return None
    return sequence_numbers(text, "--exclude") if is_integer else [name.strip() for name in text.split(",")]


def names_to_exclude(text: str, sides: Sequence[Annotations | SideColumns]) -> list[int] | list[str] | None:
    """Parses --exclude to integers or texts, like the sequences of these tables; None if it is not given."""
    columns = [table["sequence"] for side in sides for table in side.of_sequences if table is not None and len(table)]
    return sequence_names(text, not columns or not selections.holds_text(columns[0]))


def slices_of(by: Sequence[str]) -> list[dict[str, CheckedBins]]:
    """Parses each --by, such as COLUMN, COLUMN:4, COLUMN:0,50,inf or A*B (crossed), to columns with their bins."""
    slices: list[dict[str, CheckedBins]] = []
    for text in by:
        crossed = [re.fullmatch(r"(.*?)(?::(\d*|[^,]*,.*))?", column, re.DOTALL) for column in text.split("*")]
        bins = {column[1]: None if column[2] is None else _bins(column[2]) for column in crossed if column}
        if len(bins) < len(crossed) or any([*bins] == [*other] for other in slices):
            raise WrongUsage(f"--by: {text!r}: a column is given twice")
        if "" in bins:
            raise WrongUsage(f"--by: {text!r}: a column without a name; give such as category or category*sequence")
        try:
            slices.append(selections.column_bins(bins))
        except InputError as error:
            raise WrongUsage(f"--{error}") from None
    return slices


def _bins(text: str) -> int | list[float] | list[str]:
    """A count of bins, or edges: numbers, or else texts of times."""
    if "," not in text:
        return int(text or 0)
    edges = [edge.strip() for edge in text.split(",")]
    try:
        return [float(edge) for edge in edges]
    except ValueError:
        return edges
