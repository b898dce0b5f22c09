"""Kept results prove themselves: what is damaged, replaced or made from other inputs is never taken for a run's own."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest

import spotgeo_frames as sf
from helpers.datasets import assert_same, in_files, points, states
from helpers.problems import refused
from spotgeo_frames.scale import blocks, journal, parts, run
from spotgeo_frames.support.stores import place_of
from spotgeo_frames.support.writing import table_files, write_bytes, write_together

pytestmark = pytest.mark.filterwarnings("ignore:.* in the (truth|predictions) only:UserWarning")


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "LEAST_ROWS", 40)
    monkeypatch.setattr(parts, "MOST_READ", 3.0)
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 64)


@pytest.fixture
def paths(tmp_path: Path) -> tuple[Path, Path]:
    truth, predictions = points(20)
    return in_files(truth, tmp_path / "truth"), in_files(predictions, tmp_path / "predictions")


def exact(matches: Path) -> pd.DataFrame:
    return sf.summarize(ds.dataset(matches).to_table().to_pandas())


# Damage.


def flipped_bit(content: bytes, random: np.random.Generator) -> bytes:
    place = int(random.integers(len(content)))
    return content[:place] + bytes([content[place] ^ 1 << int(random.integers(8))]) + content[place + 1 :]


def other_byte(content: bytes, random: np.random.Generator) -> bytes:
    place = int(random.integers(len(content)))
    return content[:place] + bytes([(content[place] + int(random.integers(1, 256))) % 256]) + content[place + 1 :]


def zeroed_page(content: bytes, random: np.random.Generator) -> bytes:
    place = int(random.integers(-(-len(content) // 512))) * 512
    return content[:place] + bytes(len(content[place : place + 512])) + content[place + 512 :]


def cut_off(content: bytes, random: np.random.Generator) -> bytes:
    return content[: int(random.integers(len(content)))]


DAMAGES = [flipped_bit, other_byte, zeroed_page, cut_off]


@pytest.mark.parametrize("damage", DAMAGES)
def test_damaged_sums_and_match_tables_are_made_again(
    damage: Callable[[bytes, np.random.Generator], bytes], paths: tuple[Path, Path], tmp_path: Path
) -> None:
    """None gives other numbers, none is kept, each is named by a warning; a damaged plan is refused."""
    random, out = np.random.default_rng(DAMAGES.index(damage)), tmp_path / "out"
    expected = sf.score_dataset(*paths, out)
    for number, folder in [(number, folder) for number in range(2) for folder in ("sums", "matches") for _ in range(3)]:
        file = sorted((out / folder).iterdir())[number]
        content = file.read_bytes()
        damaged = content
        while damaged == content:
            damaged = damage(content, random)
        file.write_bytes(damaged)
        with pytest.warns(UserWarning, match=f"{file}: .*; its part is evaluated again"):
            found = sf.score_dataset(*paths, out)
        pd.testing.assert_frame_equal(found, expected, check_exact=True)
        assert file.read_bytes() == content
    plan = (out / "plan.json").read_bytes()
    for _ in range(5):
        (out / "plan.json").write_bytes(damage(plan, random))
        with refused(f"{out / 'plan.json'}"):
            sf.score_dataset(*paths, out)


def test_a_file_of_another_part_or_run_is_no_result(paths: tuple[Path, Path], tmp_path: Path) -> None:
    expected = sf.score_dataset(*paths, tmp_path / "out")
    sf.score_dataset(*paths, tmp_path / "other", tau=5)
    out, other = tmp_path / "out", tmp_path / "other"
    for name in ("sums/part-00001.arrow", "matches/part-00001.parquet"):
        shutil.copy(other / name, out / name)
    with pytest.warns(UserWarning, match=f"{out / 'sums' / 'part-00001.arrow'}: is .* another"):
        found = sf.score_dataset(*paths, out)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)
    for folder, name in (("sums", "part-0000{}.arrow"), ("matches", "part-0000{}.parquet")):
        shutil.copy(out / folder / name.format(0), out / folder / name.format(1))
    with pytest.warns(UserWarning, match=f"{out / 'sums' / 'part-00001.arrow'}: is .* another"):
        found = sf.score_dataset(*paths, out)
    pd.testing.assert_frame_equal(found, expected, check_exact=True)
    assert_same(exact(out / "matches"), expected)
    # A match table that is no part's would be read with the others.
    shutil.copy(other / "matches" / "part-00001.parquet", out / "matches" / "part-00099.parquet")
    with refused((f"{out / 'matches' / 'part-00099.parquet'}", "remove it")):
        sf.score_dataset(*paths, out)


def test_pages_have_checksums_and_files_name_their_run(paths: tuple[Path, Path], tmp_path: Path) -> None:
    sf.score_dataset(*paths, tmp_path / "out")
    sf.repartition_by_sequence(paths[0], tmp_path / "sorted")
    identity = json.loads((tmp_path / "out" / "plan.json").read_text())["run"]
    matches = sorted((tmp_path / "out" / "matches").iterdir())
    assert {pq.read_schema(file).metadata[b"run"].decode() for file in matches} == {identity}
    for file in [matches[0], tmp_path / "out" / "summary.parquet", *(tmp_path / "sorted").iterdir()]:
        column = pq.read_metadata(file).row_group(0).column(0)
        content = bytearray(file.read_bytes())
        content[4 + column.total_compressed_size - 1] ^= 0xFF  # the last byte of the first column's last page
        file.write_bytes(content)
        with pytest.raises(OSError, match="CRC"):
            pq.read_table(file, page_checksum_verification=True)


def test_files_and_folders_are_on_the_disk_before_they_count(
    paths: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was synchronised before each move, by the order of the calls."""
    calls: list[tuple[str, str]] = []

    def name_of(descriptor: int) -> str:
        return os.readlink(f"/proc/self/fd/{descriptor}")

    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: (calls.append(("fsync", name_of(fd))), fsync(fd))[1])
    monkeypatch.setattr(os, "replace", lambda a, b: (calls.append(("move", f"{a} {b}")), replace(a, b))[1])
    sf.score_dataset(*paths, tmp_path / "out")
    moves = [position for position, (what, _) in enumerate(calls) if what == "move"]
    assert len(moves) == 2 * len(list((tmp_path / "out" / "sums").iterdir())) + 1
    for position in moves:
        temporary, target = calls[position][1].split(" ")
        assert calls[position - 1] == ("fsync", temporary)
        assert calls[position + 1] == ("fsync", str(Path(target).parent))


# Workers and other runs.


def test_two_runs_in_one_folder(paths: tuple[Path, Path], tmp_path: Path) -> None:
    """The second is refused while the first is at work, with the same options and with others; then it may go on."""
    out, refusals = tmp_path / "out", []

    def measure(truth: pd.DataFrame, predicted: pd.DataFrame) -> np.ndarray:
        if not refusals and (out / "plan.json").exists():
            before = states(out)
            for options in ({"similarity": measure}, {"tau": 5}):
                with refused((f"{out}", "another run is writing here")):
                    sf.score_dataset(*paths, out, **options)
                refusals.append(states(out) == before)
        return np.exp(-np.abs(truth["x"].to_numpy() - predicted["x"].to_numpy()))

    expected = sf.score_dataset(*paths, out, similarity=measure)
    assert refusals == [True, True]
    assert not list(out.rglob("*.tmp"))
    assert expected["n_sequences"].item() == 20


STARTS = """
import sys, time
from pathlib import Path
import spotgeo_frames as sf
from spotgeo_frames.scale import parts, run
parts.LEAST_ROWS, run.FEW_ROWS = 40, 0
truth, predictions, out, tau, go = sys.argv[1:]
Path(f"{go}.{tau}").touch()
while not Path(go).exists():
    time.sleep(0.001)
try:
    print(sf.score_dataset(truth, predictions, out, tau=float(tau), workers=1)["tp"].item())
except sf.InputError as error:
    print("refused", error)
"""


def test_runs_that_start_at_once(paths: tuple[Path, Path], tmp_path: Path) -> None:
    """One passes, the other is refused by a clear word, and the folder holds the results of the one that passed."""
    go, out = tmp_path / "go", tmp_path / "out"
    commands = [[sys.executable, "-c", STARTS, *map(str, [*paths, out, tau, go])] for tau in (5, 10)]
    processes = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for words in commands]
    while not all(Path(f"{go}.{tau}").exists() for tau in (5, 10)):
        assert all(process.poll() is None for process in processes)
        time.sleep(0.01)
    go.touch()
    texts = [process.communicate()[0] for process in processes]
    expected = [sf.score_dataset(*paths, tau=tau)["tp"].item() for tau in (5, 10)]
    passed = [position for position in (0, 1) if texts[position].strip() == str(expected[position])]
    assert len(passed) == 1, texts
    assert "another run is writing here" in texts[1 - passed[0]] or "run of something else" in texts[1 - passed[0]]
    assert exact(out / "matches")["tp"].item() == expected[passed[0]]
    assert not list(out.rglob("*.tmp"))


def test_an_old_run_cannot_write_into_a_new_one(paths: tuple[Path, Path], tmp_path: Path) -> None:
    """As a worker of a killed run would that is still at work when its folder is removed and another run begins."""
    out, seen = tmp_path / "out", []

    def measure(truth: pd.DataFrame, predicted: pd.DataFrame) -> np.ndarray:
        if not seen and (out / "plan.json").exists():
            seen.append(True)
            shutil.rmtree(out)
            seen.append(sf.score_dataset(*paths, out, tau=5))
            (out / "matches" / f".part-00000.parquet.{'0' * 32}.{'1' * 32}.tmp").touch()  # as if it still wrote
            seen.append(states(out))
        return np.exp(-np.abs(truth["x"].to_numpy() - predicted["x"].to_numpy()))

    with refused((f"{out}", "another run is writing here")):
        sf.score_dataset(*paths, out, similarity=measure)
    assert states(out) == seen[2]
    assert_same(exact(out / "matches"), seen[1])


KILLED = """
import os, sys, time
import numpy as np
import spotgeo_frames as sf
from spotgeo_frames.scale import parts
parts.LEAST_ROWS = 40
truth, predictions, out, pids = sys.argv[1:]

def measure(truth, predicted):
    open(os.path.join(pids, str(os.getpid())), "w").close()
    while len(os.listdir(pids)) < 2:  # or one worker may be done before the other has started
        time.sleep(0.01)
    time.sleep(0.5)
    return np.full(len(truth), 0.6)

sf.score_dataset(truth, predictions, out, similarity=measure, workers=2)
"""


def test_workers_end_with_their_parent(paths: tuple[Path, Path], tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    pids.mkdir()
    words = [sys.executable, "-c", KILLED, *map(str, [*paths, tmp_path / "out", pids])]
    parent = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len(list(pids.iterdir())) < 2:
        assert time.monotonic() < deadline
        assert parent.poll() is None
        time.sleep(0.05)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    deadline = time.monotonic() + 60
    while alive := [pid.name for pid in pids.iterdir() if is_running(int(pid.name))]:
        assert time.monotonic() < deadline, alive
        time.sleep(0.05)


def is_running(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


# Inputs that change.


def rewritten(path: Path, **columns: Callable[[pd.DataFrame], object]) -> None:
    """Writes a file anew with other values, of the same size and the same time of change."""
    state, rows = path.stat(), pd.read_parquet(path)
    for add in np.arange(0.1, 20, 0.1):  # until the file is as large as it was
        rows.assign(x=(rows["x"] + add).round(1)).to_parquet(path, row_group_size=7)
        if path.stat().st_size == state.st_size:
            os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
            return
    raise AssertionError("no file of equal size")


def test_inputs_rewritten_between_runs(tmp_path: Path) -> None:
    truth, predictions = points(20)
    paths = (
        in_files(truth[["sequence", "frame", "object", "x", "y"]], tmp_path / "truth"),
        in_files(predictions, tmp_path / "predictions"),
    )
    for file in paths[0].iterdir():
        pd.read_parquet(file).to_parquet(file, row_group_size=7)
    sf.score_dataset(*paths, tmp_path / "out")
    rewritten(paths[0] / "part-001.parquet")
    with refused((f"{tmp_path / 'out'}", "truth")):
        sf.score_dataset(*paths, tmp_path / "out")


@pytest.mark.parametrize("group_rows", [7, 100])
@pytest.mark.parametrize("keep", [True, False])
@pytest.mark.parametrize("part", [0, 2])
def test_inputs_rewritten_during_a_run(
    part: int, keep: bool, group_rows: int, paths: tuple[Path, Path], tmp_path: Path
) -> None:
    """After the file was read, and before: the run ends, even if the row groups are others."""
    file, seen = paths[0] / f"part-00{part}.parquet", []

    def measure(truth: pd.DataFrame, predicted: pd.DataFrame) -> np.ndarray:
        if predicted["sequence"].max() >= 8 and not seen:
            seen.append(True)
            rows = pd.read_parquet(file)
            rows.assign(x=rows["x"] + 1).to_parquet(file, row_group_size=group_rows)
        return np.full(len(truth), 0.6)

    with refused((f"{file}", "changed")):
        sf.score_dataset(*paths, tmp_path / "out" if keep else None, similarity=measure, on_error="skip")
    assert seen


def test_errors_of_a_measure_are_no_errors_of_the_folder(paths: tuple[Path, Path], tmp_path: Path) -> None:
    def measure(truth: pd.DataFrame, predicted: pd.DataFrame) -> np.ndarray:
        raise ConnectionError("mine")

    with pytest.raises(ConnectionError, match="mine"):
        sf.score_dataset(*paths, tmp_path / "out", similarity=measure)
    (tmp_path / "out" / "plan.json").unlink()
    (tmp_path / "out" / "plan.json").symlink_to(tmp_path / "nowhere")
    with refused(f"{tmp_path / 'out'}"):
        sf.score_dataset(*paths, tmp_path / "out")


def test_a_file_that_is_gone_is_never_skipped(
    paths: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As workers see it that do not share the client's disk."""
    missing = paths[0] / "part-001.parquet"
    evaluated = run.evaluated_here

    def on_other_machines(*arguments: object) -> object:
        missing.rename(tmp_path / "away")
        try:
            return evaluated(*arguments)  # type: ignore[arg-type]
        finally:
            (tmp_path / "away").rename(missing)

    monkeypatch.setattr(run, "evaluated_here", on_other_machines)
    with refused((f"{missing}", "is not there")):
        sf.score_dataset(*paths, on_error="skip")


def test_what_was_written_is_compared_with_what_is_there(
    paths: tuple[Path, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with workers that write to disks of their own."""
    evaluated, out = run.evaluated_here, tmp_path / "out"
    lost = out / "matches" / "part-00001.parquet"

    def elsewhere(*arguments: object) -> object:
        result = evaluated(*arguments)  # type: ignore[arg-type]
        lost.unlink()
        return result

    monkeypatch.setattr(run, "evaluated_here", elsewhere)
    with refused((f"{lost}", "is not there", "workers")):
        sf.score_dataset(*paths, out)
    assert not (out / "summary.parquet").exists()


# What killed processes leave.


@pytest.fixture
def killed() -> Callable[[str], None]:
    """A function that runs code in a process that is killed while its temporary file or folder is there."""

    def run_code(code: str) -> None:
        ended = subprocess.run([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True, cwd=os.getcwd())
        assert ended.returncode == -signal.SIGKILL, ended.stderr

    return run_code


KILL = "import os, signal\ndef kill(*a, **k): os.kill(os.getpid(), signal.SIGKILL)\n"


def test_temporary_files_of_killed_processes(killed: Callable[[str], None], tmp_path: Path) -> None:
    out, page = tmp_path / "out", tmp_path / "page.txt"
    tables = "write_together(table_files({'matches': pd.DataFrame({'a': [1]})}, Path(sys.argv[1]), {}))"
    code = f"import sys; sys.argv[1:] = [{str(out)!r}]\n{KILL}import pandas as pd\nfrom pathlib import Path\n"
    code += "from spotgeo_frames.support.writing import table_files, write_bytes, write_together\n"
    out.mkdir()
    killed(f"{code}Path.replace = os.replace = kill\n{tables}")
    killed(f"{code}Path.replace = os.replace = kill\nwrite_bytes(Path({str(page)!r}), b'x')")
    (out / ".mine.tmp").touch()
    left = set(tmp_path.rglob(".*.tmp"))
    assert len(left) == 3
    # When it asks to replace the first file, the temporary files of all are there.
    sleeping = f"{code}import time\ndef sleep(*a): Path({str(tmp_path / 'asleep')!r}).touch(); time.sleep(600)\n"
    sleeping += f"Path.replace = os.replace = sleep\n{tables}"
    living = subprocess.Popen([sys.executable, "-c", sleeping])
    try:
        deadline = time.monotonic() + 60
        while not (tmp_path / "asleep").exists():
            assert time.monotonic() < deadline
            assert living.poll() is None
            time.sleep(0.05)
        new = set(out.iterdir()) - left
        assert new
        write_bytes(tmp_path / "other.txt", b"x")  # of another target
        assert len(list(tmp_path.glob(".*.tmp"))) == 1
        write_together(table_files({"matches": pd.DataFrame({"a": [1]})}, out, {}))
        write_bytes(page, b"x")
        assert set(tmp_path.rglob(".*.tmp")) == {*new, out / ".mine.tmp"}
    finally:
        living.kill()
        living.wait()


def test_temporary_folders_of_killed_sorts(
    killed: Callable[[str], None], paths: tuple[Path, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "sorted"
    code = f"{KILL}import spotgeo_frames as sf\nfrom spotgeo_frames.scale import rows\n"
    code += f"rows.write_rows = kill\nsf.repartition_by_sequence({str(paths[0])!r}, {str(folder)!r})"
    for _ in range(2):
        killed(code)
    assert list(tmp_path.glob(".*"))
    sf.repartition_by_sequence(paths[0], folder)
    assert not list(tmp_path.glob(".*"))
    assert len(pd.read_parquet(folder)) == len(pd.read_parquet(paths[0]))


def test_temporary_files_of_a_run_are_removed_with_its_folder_held(paths: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "out"
    sf.score_dataset(*paths, out)
    for folder in (out, out / "matches", out / "sums"):
        (folder / f".part-00000.parquet.{'0' * 32}.{'1' * 32}.tmp").touch()
    sf.score_dataset(*paths, out)
    assert not list(out.rglob("*.tmp"))


def test_a_place_without_locks_still_has_a_plan(paths: tuple[Path, Path], tmp_path: Path) -> None:
    """As on an object store: nothing tells of another run, but results are checked all the same."""
    from pyarrow import fs

    place = place_of(tmp_path)._replace(filesystem=fs.SubTreeFileSystem("/", fs.LocalFileSystem()))
    plan = {"tau": 10}
    with journal.begun(place.inside("out"), {}, plan, 1) as (folder, finished, _):
        assert not finished
        assert (tmp_path / "out" / "plan.json").exists()
    with journal.begun(place.inside("out"), {}, plan, 1) as (again, finished, _):
        assert again.identity == folder.identity
    with refused((f"{tmp_path / 'out'}", "tau")), journal.begun(place.inside("out"), {}, {"tau": 5}, 1):
        pass
