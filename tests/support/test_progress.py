"""Progress bars: only where something takes long and somebody looks on."""

import sys

import pytest

from spotgeo_frames.support import progress


@pytest.mark.parametrize(("patience", "looks_on", "shown"), [(-1, True, True), (60, True, False), (-1, False, False)])
def test_bar(
    patience: float, looks_on: bool, shown: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "PATIENCE", patience)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: looks_on)
    assert list(progress.progress([3, 1, 2], "counting", "number")) == [3, 1, 2]
    assert ("counting: 100%" in capsys.readouterr().err) == shown
