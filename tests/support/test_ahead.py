"""Working ahead: the order, the errors, and how far."""

import threading
from collections.abc import Iterator, Sequence

import pytest

from spotgeo_frames.support.work import ahead, each


def test_the_items_in_their_order_even_none() -> None:
    assert list(ahead(iter([3, None, 1]))) == [3, None, 1]
    assert list(ahead(iter(()))) == []


def test_one_more_is_made_while_the_caller_has_one() -> None:
    made = [threading.Event() for _ in range(4)]

    def items() -> Iterator[int]:
        for number, event in enumerate(made):
            event.set()
            yield number

    found = ahead(items())
    assert next(found) == 0
    assert made[1].wait(timeout=10)
    assert not made[2].wait(timeout=0.05)
    assert list(found) == [1, 2, 3]


def test_an_error_comes_in_its_turn() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise OSError("torn")

    found = ahead(items())
    assert next(found) == 1
    with pytest.raises(OSError, match="torn"):
        next(found)


def test_a_caller_that_stops_leaves_no_thread() -> None:
    before = threading.active_count()
    found = ahead(iter(range(9)))
    next(found)
    found.close()
    assert threading.active_count() == before


@pytest.mark.parametrize("at_a_time", [1, 3, 100])
def test_calls_in_threads_come_back_in_order(at_a_time: int) -> None:
    assert list(each(squares, range(10), at_a_time=at_a_time)) == squares(range(10))
    assert list(each(squares, [], at_a_time=at_a_time)) == []


def squares(items: Sequence[int]) -> list[int]:
    return [item * item for item in items]
