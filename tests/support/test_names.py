"""Names of files that every operating system takes."""

import pytest

from spotgeo_frames.support.texts import is_file_name


@pytest.mark.parametrize("name", ["a", "console", "com", "com0", "com10", "nulls.txt", "MOT17-02", "a b", "naïve.png"])
def test_names_of_files(name: str) -> None:
    assert is_file_name(name)


@pytest.mark.parametrize("name", ["", ".", "..", ".a", "a.", "a ", "a/b", "a\\b", "c:a", "a:b", "a?", "a\nb"])
def test_what_is_no_name_of_a_file(name: str) -> None:
    assert not is_file_name(name)


@pytest.mark.parametrize("name", ["CON", "nul", "Aux.txt", "com1", "LPT9.tar.gz", "com²", "con .png", "conout$"])
def test_names_of_devices_on_windows(name: str) -> None:
    assert not is_file_name(name)
