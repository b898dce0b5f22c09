"""The script that draws charts: bundled once, kept for the next report, and taken only if nobody else wrote it."""

import os
from pathlib import Path

import pytest

from spotgeo_frames.presentation.page.html import vega


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of caches of a new process, which bundles a short script."""
    monkeypatch.setattr(vega, "BUNDLED", {})
    monkeypatch.setattr(vega, "BUNDLE", "import sys; sys.stdout.write('draw(</script>)')")
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    return tmp_path


def script_of_new_process() -> str:
    vega.BUNDLED.clear()
    with vega.vega_script() as script:
        return script()


def kept(cache: Path) -> Path:
    [path] = cache.rglob("*.js")
    return path


def test_a_script_is_bundled_once(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mask = os.umask(0o002)
    first = script_of_new_process()
    os.umask(mask)
    assert first == "(() => {draw(<\\/script>)})();"
    assert [path.stat().st_mode & 0o077 for path in (kept(cache), kept(cache).parent)] == [0, 0]
    monkeypatch.setattr(vega.subprocess, "Popen", lambda *_, **__: pytest.fail("it is kept"))
    assert script_of_new_process() == first


def damaged(path: Path) -> None:
    path.write_text(path.read_text() + ";")


def of_others(path: Path) -> None:
    path.chmod(0o666)


def in_a_folder_of_others(path: Path) -> None:
    path.parent.chmod(0o777)


def a_link(path: Path) -> None:
    path.rename(path.with_suffix(".txt"))
    path.symlink_to(path.with_suffix(".txt"))


def no_text(path: Path) -> None:
    path.write_bytes(b"\xff\xfe")


@pytest.mark.skipif(os.name == "nt", reason="Windows has other rights")
@pytest.mark.parametrize("harm", [damaged, of_others, in_a_folder_of_others, a_link, no_text, Path.unlink])
def test_a_file_that_cannot_be_trusted_is_bundled_anew(cache: Path, harm: object) -> None:
    first = script_of_new_process()
    path = kept(cache)
    harm(path)  # type: ignore[operator]
    assert vega._kept(path) is None
    assert script_of_new_process() == first


@pytest.mark.skipif(os.name == "nt" or os.getuid() == 0, reason="nothing is forbidden to the root user")
def test_without_a_place_to_keep_it_the_script_is_bundled(cache: Path) -> None:
    cache.chmod(0o500)
    assert script_of_new_process() == script_of_new_process()


def test_a_place_that_cannot_be_is_no_error(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (cache / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache / "file"))
    assert script_of_new_process() == script_of_new_process()
