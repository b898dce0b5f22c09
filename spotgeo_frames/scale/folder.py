"""The folder of a run: where its files are, which run they are of, and the plan that says so.

Each run has an identity, which its plan, its temporary files, its match tables and its sums carry. A process that is
still at work when its folder is removed and another run begins there is told by it, and writes nothing.
"""

import hashlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import msgspec

from ..support import InputError, Output, Place, reading, stores

# What both a second run in a folder and one whose folder was given to another are told.
BUSY = "another run is writing here; wait until it ends, or give another folder"


class RunFolder(NamedTuple):
    """The folder of a run, and the run's identity."""

    place: Place
    identity: str

    @property
    def plan(self) -> Place:
        return self.place.inside("plan.json")

    def matches(self, number: int) -> Place:
        """The file of a part's match table."""
        return self.place.inside("matches", f"part-{number:05}.parquet")

    def sums(self, number: int) -> Place:
        """The file of a part's sums, which is written last."""
        return self.place.inside("sums", f"part-{number:05}.arrow")

    def of(self, name: str) -> Place:
        """The file of a name relative to the folder, such as matches/part-00000.parquet."""
        return self.place.inside(*name.split("/"))

    def relative(self, place: Place) -> str:
        """The name of a file relative to the folder."""
        return place.path[len(self.place.path.rstrip("/")) + 1 :]


def plan_text(plan: Mapping[str, Any]) -> bytes:
    """A plan as the content of plan.json, with a digest that proves it."""
    proven = {**plan, "sha256": hashlib.sha256(msgspec.json.encode(plan)).hexdigest()}
    return msgspec.json.format(msgspec.json.encode(proven), indent=1)


def read_plan(out: Place) -> dict[str, Any] | None:
    """The plan in a folder, None if there is none; raises InputError if it is damaged."""
    place = out.inside("plan.json")
    with reading.readable(place.name):
        try:
            with place.filesystem.open_input_stream(place.path) as stream:
                content = bytes(stream.read())
        except FileNotFoundError:
            return None
    try:
        plan = msgspec.json.decode(content, type=dict[str, Any])
    except (msgspec.DecodeError, UnicodeDecodeError):
        plan = {}
    plan.pop("sha256", None)
    if "run" not in plan or plan_text(plan) != content:
        advice = "nothing proves what the folder holds; remove the folder, or give another"
        raise InputError(f"{place.name}: is damaged, or was written by another version: {advice}")
    return plan


def check_own(folder: RunFolder) -> None:
    """Raises InputError if a folder is no longer that of this run."""
    plan = read_plan(folder.place)
    if plan is None:
        raise InputError(
            f"{folder.plan.name}: is not there; keep the folder during a run, and let workers share its disk"
        )
    if plan["run"] != folder.identity:
        raise InputError(f"{folder.place.name}: {BUSY}")


@contextmanager
def written_for(folder: RunFolder, place: Place) -> Iterator[Output]:
    """A context that gives a stream to write a file of a run with; it appears once complete, if the run is still there.

    Raises InputError if it cannot be written, or if the folder is no longer that of this run.
    """
    with stores.written(place, folder.identity, partial(check_own, folder)) as stream:
        yield stream
