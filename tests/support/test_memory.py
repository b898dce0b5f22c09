"""How much memory is at hand: the least of what the machine, the limits of the process and its cgroups leave."""

import resource
from pathlib import Path

import pytest

from helpers.problems import refused
from spotgeo_frames.support import memory
from spotgeo_frames.support.memory import check_at_hand, memory_at_hand

GIB = 1 << 30


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with 8 GiB left, without limits and without cgroups."""
    monkeypatch.setattr(memory, "PROC", tmp_path / "proc")
    monkeypatch.setattr(memory, "CGROUPS", tmp_path / "cgroup")
    monkeypatch.setattr(resource, "getrlimit", lambda limit: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    write(tmp_path / "proc", {"meminfo": f"MemTotal: 1 kB\nMemAvailable:   {8 << 20} kB\nHugePages_Free: 0\n"})
    write(tmp_path / "proc" / "self", {"statm": "1000 1 1 1 0 500 0", "cgroup": "1:name=systemd:/"})
    return tmp_path


def write(folder: Path, contents: dict[str, object]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in contents.items():
        (folder / name).write_text(f"{content}\n")


def test_this_machine() -> None:
    at_hand = memory_at_hand()
    assert at_hand is None or 1 << 20 < at_hand < 1 << 50


def test_the_machine(system: Path) -> None:
    assert memory_at_hand() == 8 * GIB


def test_it_may_be_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "PROC", tmp_path)
    monkeypatch.setattr(memory, "CGROUPS", tmp_path)
    assert memory_at_hand() is None
    check_at_hand("frame 1", "matching", 1e30)


@pytest.mark.parametrize(("which", "n_pages"), [("RLIMIT_AS", 1000), ("RLIMIT_DATA", 500)])
def test_limits_of_the_process(which: str, n_pages: int, system: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    soft = {getattr(resource, which): 2 * GIB}
    monkeypatch.setattr(resource, "getrlimit", lambda limit: (soft.get(limit, resource.RLIM_INFINITY), 5 * GIB))
    assert memory_at_hand() == 2 * GIB - n_pages * resource.getpagesize()
    soft[getattr(resource, which)] = 1
    assert memory_at_hand() == 0


@pytest.mark.parametrize("own", ["job/step", ""])  # the group of the process, or of its container
def test_cgroups_of_version_2(own: str, system: Path) -> None:
    write(system / "proc" / "self", {"cgroup": f"0::/{own}"})
    write(system / "cgroup" / "job" / "step", {"memory.max": "max", "memory.current": 1})
    stat = f"anon 5\ninactive_file {GIB // 2}"
    held = {"memory.max": 3 * GIB, "memory.current": 2 * GIB, "memory.stat": stat}
    write(system / "cgroup" / Path(own).parent, held)
    assert memory_at_hand() == 3 * GIB // 2


@pytest.mark.parametrize("path", ["/job", "/docker/of/the/host"])
def test_cgroups_of_version_1(path: str, system: Path) -> None:
    write(system / "proc" / "self", {"cgroup": f"9:cpu:/job\n4:memory:{path}\n0::/"})
    root = system / "cgroup" / "memory"
    write(root, {"memory.limit_in_bytes": 4 * GIB, "memory.usage_in_bytes": GIB, "memory.stat": "total_cache 1"})
    assert memory_at_hand() == 3 * GIB
    write(root / "job", {"memory.limit_in_bytes": 2 * GIB, "memory.usage_in_bytes": GIB})
    assert memory_at_hand() == (GIB if path == "/job" else 3 * GIB)


def test_more_than_there_is_is_refused(system: Path) -> None:
    check_at_hand("sequence 1", "work", 7 * GIB)
    with refused(("sequence 1", "work", "9.0 GiB", "8.0 GiB", "fewer")):
        check_at_hand("sequence 1", "work", 9 * GIB)
