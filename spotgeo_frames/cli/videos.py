"""The videos that `--video` asks for: refused before the evaluation, and written after it.

What is drawn is the result that the command scores. Modules that draw are loaded only where a video is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..geometries import geometry_of
from ..support import InputError, writing
from ..tables import Annotations, SideColumns, among, selections
from .answers import check_folder, written_text
from .arguments import paths_of
from .printing import WrongUsage, remark, wrong_usage

# The most sequences that a message names.
MOST_NAMED = 5


class Videos(NamedTuple):
    """The sequences that are asked for, each with its file, and the folder of the pictures behind their frames.

    Sequences are texts, as the command line has them, until `in_truth` gives them the type of the truth's.
    """

    asked: Sequence[tuple[Any, Path]]
    images: Path | None

    def in_truth(self, truth: Annotations | SideColumns, left_out: Collection[int | str] | None = None) -> Videos:
        """The same with sequences as the truth has them; `left_out` are those that `--exclude` names.

        Raises WrongUsage if the truth has no such sequence or it is left out, and InputError if it has too many frames
        or its objects have no place in pictures.
        """
        if not self.asked:
            return self
        from ..presentation.drawing import check_length

        if self.images is not None and geometry_of(truth.objects).chart is not None:
            raise InputError("--images: a picture behind places in the sky needs their pixels; leave it out")
        asked = [(_sequence(text, truth), file) for text, file in self.asked]
        for sequence, file in asked:
            if sequence in (left_out or ()):
                raise WrongUsage(f"--video: sequence {sequence} is left out by --exclude; leave it in, or give another")
            check_length(sequence, len(_frames(sequence, truth)), file)
        return self._replace(asked=asked)

    def draw(self, result: Any) -> None:
        """Makes the videos of a match table or of another result, and names their files on standard error."""
        if not self.asked:
            return
        from ..presentation import video

        for sequence, file in self.asked:
            video(result, sequence, file, self.images)
            remark(written_text(file))


def with_videos(given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a command with --video and --images as `videos`.

    Raises WrongUsage, InputError or ImportError if no such video can be written, whatever the files hold.
    """
    videos = Videos(given["video"], given["images"])
    if videos.asked:
        _check(videos, given)
    elif videos.images is not None:
        raise WrongUsage("--images: pictures lie behind the frames of a --video; give --video SEQUENCE FILE, too")
    return {name: value for name, value in given.items() if name not in ("video", "images")} | {"videos": videos}


def _check(videos: Videos, given: Mapping[str, Any]) -> None:
    """Raises an error if a video cannot be written by a command with these arguments."""
    if given.get("dataset"):
        raise WrongUsage("--video: draws a match table, and a --dataset is evaluated in parts without; leave it out")
    from ..presentation.drawing import check_video, pictures

    files = [file.absolute() for _, file in videos.asked]
    for _, file in videos.asked:
        with wrong_usage("--"):
            check_video(file)
        check_folder(file.absolute().parent, file)
        writing.check_file_kept(file, [Path(path) for path in paths_of(given)])
        if files.count(file.absolute()) > 1:
            raise WrongUsage(f"--video: two videos would be {file}; give each a file of its own")
    if videos.images is not None:
        pictures.picture_folder(str(videos.images), "video")


def _sequence(text: str, truth: Annotations | SideColumns) -> Any:
    """The sequence of the truth that a text names: an integer where its sequences are; raises WrongUsage if none is."""
    columns = [table["sequence"] for table in _tables(truth)]
    is_text = any(map(selections.holds_text, columns[:1]))
    sequence = text if is_text else int(text) if re.fullmatch(r"-?\d{1,19}", text) and abs(int(text)) < 2**63 else None
    if sequence is None or not any(among(column, [sequence]).any() for column in columns):
        names = list(dict.fromkeys(str(name) for column in columns for name in column.tolist()))
        more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
        there = f"there are {', '.join(names[:MOST_NAMED])}{more}" if names else "it has none"
        raise WrongUsage(f"--video: the truth has no sequence {text!r}; {there}")
    return sequence


def _frames(sequence: Any, truth: Annotations | SideColumns) -> set[int]:
    """The frames of a sequence of the truth."""
    tables = _tables(truth)
    return {frame for table in tables for frame in table["frame"][among(table["sequence"], [sequence])].tolist()}


def _tables(truth: Annotations | SideColumns) -> list[Any]:
    """The tables of the truth, those of objects and of frames, that have rows."""
    return [table for table in (truth.objects, truth.frames) if table is not None and len(table)]
