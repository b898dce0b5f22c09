"""Old names of arguments: taken with a warning, told by the signature's new names, refused beside the new one."""

import inspect
import subprocess
import sys

import pytest

from spotgeo_frames.support import Deprecation, renamed

DEPRECATION = Deprecation("wide", "width", since="1.2", until="1.4", not_before="2031-01-01")


@renamed(DEPRECATION, converted=abs)
def area(height: float, width: float = 1.0, **others: float) -> float:
    """Multiplies."""
    return height * width + sum(others.values())


def test_the_old_name_is_taken_with_a_warning_that_says_what_to_write_and_until_when() -> None:
    with pytest.warns(DeprecationWarning, match=r"width= in place of wide=.* 1\.4, not before 2031-01-01") as given:
        assert area(2.0, wide=-3.0, depth=1.0) == 7.0
    assert [one.filename for one in given] == [__file__]


@pytest.mark.filterwarnings("error")
def test_the_new_name_gives_no_warning() -> None:
    assert area(2.0, 3.0) == area(2.0, width=3.0) == area(height=2.0, width=3.0) == 6.0


@pytest.mark.parametrize("call", [lambda: area(2.0, 3.0, wide=4.0), lambda: area(2.0, width=3.0, wide=4.0)])
def test_both_names_are_refused(call) -> None:
    with pytest.raises(TypeError, match="both wide= and width="):
        call()


def test_the_signature_has_the_new_name_alone() -> None:
    assert list(inspect.signature(area).parameters) == ["height", "width", "others"]
    assert inspect.getdoc(area) == "Multiplies."
    assert area.deprecated_arguments == [DEPRECATION]


def test_the_filter_of_the_page_of_stability_makes_the_warning_an_error() -> None:
    code = "import spotgeo_frames as sf; sf.plots.sweep_curves(None, figure=None)"
    command = [sys.executable, "-W", "error:spotgeo_frames:DeprecationWarning", "-c", code]
    said = subprocess.run(command, capture_output=True, text=True, timeout=120).stderr.splitlines()[-1]
    assert said.startswith("DeprecationWarning: spotgeo_frames: sweep_curves() takes ax= in place of figure=")
