"""Progress bars: only where something takes long and somebody looks on."""

import sys

import pytest

from spotgeo_frames.support import work


@pytest.fixture(autouse=True)
def _outside_jupyter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another test of this process may have loaded what tells Jupyter."""
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)


@pytest.mark.parametrize(("patience", "looks_on", "shown"), [(-1, True, True), (60, True, False), (-1, False, False)])
def test_bar(
    patience: float, looks_on: bool, shown: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(work, "PATIENCE", patience)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: looks_on)
    assert list(work.progress([3, 1, 2], "counting", "number")) == [3, 1, 2]
    said = capsys.readouterr().err
    assert ("counting:" in said) == shown
    assert "100%" not in said.rpartition("\r")[2]  # none stands still while other work goes on


def test_tqdm_is_not_loaded_where_nobody_sees_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm", None)  # to import it would raise
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False)
    assert list(work.progress([3, 1, 2], "counting", "number")) == [3, 1, 2]


def test_an_error_closes_the_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(work, "PATIENCE", -1)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    begun = work.progress([1, 0, 2], "counting", "row")
    with pytest.raises(ZeroDivisionError):
        [1 // item for item in begun]
    begun.close()
    said = capsys.readouterr().err
    assert "counting:" in said
    assert said.endswith("\r")
    assert work.SHOWN.n_bars == 0


def test_nothing_is_shown_where_standard_error_was_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    with work.step("counting"):
        assert list(work.progress([3, 1, 2], "counting", "number")) == [3, 1, 2]
