"""What the PoseTrack evaluations take out before they compare.

Frames whose `is_labeled` is false are not evaluated. In the other frames, joints of truth and predictions that lie
within an ignore region are taken out, and people who have no joint left are taken out with them. A joint on the border
of a region is not within it.

This follows the PoseTrack21 evaluation kit (datasets/posetrack.py) and poseval (eval_helpers.py).

Known differences

    - poseval never looks at `is_labeled`. It evaluates every frame in which the truth lists somebody. Where a frame is
      annotated but not labelled, poseval counts its poses, and here nobody does, as in PoseTrack21's kit.
    - The kits keep people who have no joints at all where a frame has no ignore region. Here nobody is without joints.
      The difference shows only where all people of a frame, on one side, have no joints: the kits' rules for frames
      with nobody do not apply to that frame there, and they do here.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...support.addresses import Storage
from ...support.copies import local_copies
from ...support.extras import check_extra
from ...support.keys import frame_keys, locate
from ...support.pandas_versions import TEXT
from ...support.ragged import ranges
from ...tables.annotations import Annotations
from ...tables.inputs import POSETRACK_FILES, copy_state, note_source
from ...tables.kinds import TableKind, as_kind, check_kind
from ..sequence_files import copies_meant
from .reader import Regions, read_folders, sequences_of_truth, truth_folder


def read_posetrack(
    truth_dir: str | Path,
    prediction_dir: str | Path | None,
    *,
    table: TableKind = "pandas",
    storage_options: Mapping[str, Any] | None = None,
    filesystem: Any = None,
) -> tuple[Annotations, Annotations]:
    """Truth and predictions of all sequences of a folder of truth, as they are evaluated.

    Parameters
    ----------
    truth_dir, prediction_dir
        Folders, or .zip archives, of SEQUENCE.json in the format of PoseTrack18 and PoseTrack21, or the folder right
        above, such as trackers/NAME for trackers/NAME/sequences. Without a `prediction_dir`, None, there are no
        predictions.
    table
        The kind of the tables: "pandas", "polars" or "pyarrow".
    storage_options, filesystem
        The options of the file system of addresses, with fsspec's names (`key`, `secret`, `token`, `endpoint_url` for
        S3), or that file system, pyarrow's or fsspec's.

    Returns
    -------
    Annotations of truth and of predictions, one row a joint: `sequence` (string), `frame` (the image's place in its
    file, from 0), `object` (the identity), `joint` (its name), `x`, `y` (px), and the truth's `head_size` (px: 0.6
    times the diagonal of the head's box) or the predictions' `score`, null where there is none. The truth's frames are
    those that are labelled, with `image_id` and `n_annotated`: how many people the truth lists there before any are
    taken out.

    Raises
    ------
    InputError: a file is missing, is of a sequence that the truth does not have, or holds what cannot be used. Every
    problem is listed with its file and place.
    ImportError: the files have regions to ignore, and the extra `posetrack` is not installed.
    ValueError: no such kind of table.

    Examples
    --------
    >>> truth, predictions = read_posetrack("data/poses/truth", "data/poses/tracker")
    >>> sorted(set(truth.objects.columns) - set(predictions.objects.columns))
    ['head_size']
    """
    kind = check_kind(table)
    given = [folder for folder in (truth_dir, prediction_dir) if folder is not None]
    with local_copies(given, Storage(storage_options, filesystem)) as above:
        copies = copies_meant(above, truth_folder, sequences_of_truth, ".json")
        states = [copy_state(copy, POSETRACK_FILES) for copy in copies]
        folders = read_folders(copies[0].path, copies[1].path if len(copies) > 1 else None)
    labelled = folders.frames["labelled"].to_numpy()
    keys = frame_keys([folders.frames, folders.truth, folders.predictions])
    sequences = pd.Series(folders.names, dtype=TEXT).array
    sides = []
    for joints, key in zip((folders.truth, folders.predictions), keys[1:], strict=True):
        row = locate(keys[0], key)
        kept = labelled[row] & ~_within(joints, row, folders.regions)
        sides.append(joints if kept.all() else joints[kept].reset_index(drop=True))
    frames = folders.frames[labelled].drop(columns="labelled").reset_index(drop=True)
    for rows in (*sides, frames):
        rows["sequence"] = sequences.take(rows["sequence"].to_numpy())
    n_rows = len(folders.truth), len(folders.predictions)
    for side, copy, state, rows in zip(sides, copies, states, n_rows, strict=False):
        note_source(side, copy.name, state, rows)
    return as_kind((Annotations(sides[0], frames), Annotations(sides[1])), kind)


def _within(table: pd.DataFrame, frame: np.ndarray, regions: Regions) -> np.ndarray:
    """Marks the points that lie within a region of their frame; `frame` is that of each point, in order."""
    marked = np.zeros(len(table), bool)
    if not regions.frame:
        return marked
    check_extra("posetrack", "read_posetrack (regions to ignore)")
    import shapely  # takes a while, and is needed here only

    sizes = [len(corners) for corners in regions.corners]
    rings = shapely.linearrings(np.concatenate(regions.corners), indices=np.repeat(np.arange(len(sizes)), sizes))
    polygons, bounds = shapely.polygons(rings), shapely.bounds(rings)
    # Each region with every point of its frame, of which those outside its bounds need no closer look.
    first, last = (np.searchsorted(frame, regions.frame, side=side) for side in ("left", "right"))
    region, point = ranges(first, last - first)
    x, y = (table[axis].to_numpy()[point] for axis in ("x", "y"))
    left, top, right, bottom = bounds[region].T
    perhaps = np.flatnonzero((x > left) & (x < right) & (y > top) & (y < bottom))
    with np.errstate(all="ignore"):  # of polygons larger than numbers
        within = shapely.contains_xy(polygons[region[perhaps]], x[perhaps], y[perhaps])
    marked[point[perhaps[within]]] = True
    return marked
