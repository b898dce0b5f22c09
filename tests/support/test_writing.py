"""Files that are written together change together, or not at all."""

import errno
import os
from pathlib import Path

import pytest

from helpers.problems import refused
from spotgeo_frames.support.temporary import kept_beside
from spotgeo_frames.support.writing import text_file, write_files, write_together

NAMES = ("new", "replaced", "removed", "last")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in NAMES[1:]:
        (tmp_path / name).write_text("earlier")
    return tmp_path


def change(folder: Path) -> None:
    """Makes one file, replaces two, and removes one."""
    write_together({folder / name: None if name == "removed" else text_file("later") for name in NAMES})


def texts(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.rglob("*") if path.is_file()}


def fail(*_: object, **__: object) -> None:
    raise OSError(errno.EIO, os.strerror(errno.EIO), "another path")


def test_files_change_together(folder: Path) -> None:
    change(folder)
    assert texts(folder) == {"new": "later", "replaced": "later", "last": "later"}


def test_a_move_that_fails_is_named_and_the_others_are_undone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    replace = os.replace

    def failing(source: Path, target: Path) -> None:
        replace(source, target) if Path(target).name != "last" or "last" not in Path(source).name else fail()

    before = texts(folder)
    monkeypatch.setattr(os, "replace", failing)
    with refused(f"{folder / 'last'}: cannot be written: Input/output error"):
        change(folder)
    monkeypatch.setattr(os, "replace", replace)
    assert texts(folder) == before


@pytest.mark.parametrize("ending", [KeyboardInterrupt, SystemExit])
def test_an_end_from_outside_undoes_what_was_moved(
    folder: Path, monkeypatch: pytest.MonkeyPatch, ending: type[BaseException]
) -> None:
    before = texts(folder)
    unlink = Path.unlink

    def ended(path: Path, missing_ok: bool = False) -> None:
        unlink(path, missing_ok)
        if path.name == "removed":
            raise ending

    monkeypatch.setattr(Path, "unlink", ended)
    with pytest.raises(ending):
        change(folder)
    assert texts(folder) == before


def test_a_file_that_cannot_be_written_leaves_no_new_folder(folder: Path) -> None:
    before = texts(folder)
    with refused(f"{folder / 'b' / 'c' / 'y'}: cannot be written"):
        write_together({folder / "a" / "x": text_file("x"), folder / "b" / "c" / "y": fail})
    assert texts(folder) == before
    assert sorted(path.name for path in folder.iterdir()) == sorted(before)


def test_a_file_in_the_way_of_a_folder_is_named(folder: Path) -> None:
    with refused(f"{folder / 'last' / 'below'}: cannot be written"):
        write_together({folder / "new": text_file("later"), folder / "last" / "below" / "x": text_file("x")})
    assert "new" not in texts(folder)


def test_a_cleanup_that_fails_after_success_is_no_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unlink = Path.unlink
    monkeypatch.setattr(Path, "unlink", lambda path, **options: fail() if ".tmp" in path.name else unlink(path))
    change(folder)
    monkeypatch.undo()
    assert {name: text for name, text in texts(folder).items() if ".tmp" not in name} == {
        "new": "later",
        "replaced": "later",
        "last": "later",
    }
    change(folder)  # which removes what was left, as it does after a kill
    assert not list(folder.glob(".*"))


def test_earlier_content_is_kept_without_links(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "link", fail)
    with kept_beside(folder / "last") as kept:
        assert kept is not None
        (folder / "last").write_text("later")
        assert kept.read_text() == "earlier"
    with kept_beside(folder / "new") as kept:
        assert kept is None
    (folder / "place").mkdir()
    with pytest.raises(IsADirectoryError, match="place"), kept_beside(folder / "place"):
        pass
    assert not list(folder.glob(".*"))


def test_names_that_differ_in_capital_letters_are_two_files_where_the_system_tells_them_apart(tmp_path: Path) -> None:
    if (tmp_path.parent / tmp_path.name.swapcase()).exists():
        pytest.skip("this file system does not")
    write_files({"a/x.txt": b"1", "A/y.txt": b"2", "A/x.txt": b"3"}, tmp_path)
    assert sorted(path.read_bytes() for path in tmp_path.rglob("*.txt")) == [b"1", b"2", b"3"]


def test_names_that_the_system_takes_for_one_are_refused_before_any_file_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exists = Path.exists

    def ignores_case(path: Path) -> bool:
        there = [other.name.casefold() for other in path.parent.iterdir()] if exists(path.parent) else []
        return path.name.casefold() in there

    monkeypatch.setattr(Path, "exists", ignores_case)
    with refused(f"{tmp_path / 'new'}: a.txt and A.txt would be the same file here; rename one of them"):
        write_files({"a.txt": b"1", "b.txt": b"2", "A.txt": b"3"}, tmp_path / "new")
    assert texts(tmp_path) == {}
    write_files({"a.txt": b"1", "b.txt": b"2"}, tmp_path / "new")
    assert len(texts(tmp_path)) == 2
