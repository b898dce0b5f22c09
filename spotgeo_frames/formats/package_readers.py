"""Readers that other installed packages add, by entry points of the group `spotgeo_frames.readers`.

The name of an entry point is the ending of the files it reads, without the dot and in small letters, and its object a
function that takes a path and returns a table of objects, or Annotations.
"""

from __future__ import annotations

from pathlib import Path

from ..support.copies import local_copy
from ..support.entry_points import entry_point, package_failure
from ..support.errors import InputError
from ..tables.annotations import Annotations, as_annotations
from ..tables.inputs import copy_state, note_source

GROUP = "spotgeo_frames.readers"


def read_by_package(path: str | Path, ending: str) -> Annotations | None:
    """The checked Annotations that a package's reader of this ending makes of a file; None if no package has one.

    Raises InputError, naming the package, if its reader fails or returns anything else.
    """
    added = entry_point(GROUP, ending)
    if added is None:
        return None
    if not callable(added.value):
        raise InputError(f"package {added.package}: {GROUP}: {ending} is no function that takes a path")
    with local_copy(path) as copy:
        state = copy_state(copy)
        try:
            read = added.value(copy.path)
        except InputError:
            raise  # it names the file, as those of the readers here
        except (Exception, SystemExit) as error:
            raise package_failure(added.package, f"cannot read {copy.name}", error) from error
    answer = as_annotations(read, f"{copy.name} (read by package {added.package})")
    note_source(answer.objects, copy.name, state)
    return answer
