"""Results in the order in which they are asked for, of calls that began before."""

import threading

import pytest

from spotgeo_frames.support.work import AT_ONCE, Fetching


def test_some_calls_are_ahead_of_what_is_taken() -> None:
    begun: list[int] = []
    all_begun, go_on = threading.Event(), threading.Event()

    def call(item: int) -> int:
        begun.append(item)
        if len(begun) == AT_ONCE:
            all_begun.set()
        go_on.wait(60)
        if item == 5:
            raise OSError("five")
        return item * item

    fetching = Fetching(call, {str(item): item for item in range(100)})
    assert all_begun.wait(60)  # at once, though none has ended
    assert len(begun) == AT_ONCE
    go_on.set()
    assert fetching.take("90") is None  # not begun yet
    for item in range(100):
        if item == 5:
            with pytest.raises(OSError, match="five"):
                fetching.take("5")
        else:
            assert fetching.take(str(item)) == item * item
        assert len(begun) <= item + 1 + AT_ONCE
    assert fetching.take("99") is None  # each once
    assert sorted(begun) == list(range(100))
