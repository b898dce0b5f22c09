"""Arrays, lists and tensors as NumPy arrays."""

import numpy as np
import pytest

from helpers.problems import refused
from spotgeo_frames.support.arrays import number_array


@pytest.mark.parametrize("values", [[1, 2], (1, 2), np.array([1, 2]), [True, False], np.float32([1, 2])])
def test_arrays_and_lists(values) -> None:
    np.testing.assert_array_equal(number_array(values, "x"), np.asarray(values))


@pytest.mark.parametrize("values", [["a"], [[1], [1, 2]], {"a": 1}, [None], [1j]])
def test_what_is_no_array_of_numbers(values) -> None:
    with refused("x"):
        number_array(values, "x")


def test_tensors_of_torch() -> None:
    torch = pytest.importorskip("torch", reason="needs `pip install torch`")
    np.testing.assert_array_equal(number_array(torch.tensor([1.5, 2]).bfloat16(), "x"), [1.5, 2])
    with refused(("x", "gradient")):
        number_array(torch.ones(2, requires_grad=True), "x")
    with torch.no_grad():
        assert number_array(torch.ones(2, requires_grad=True) * 2, "x").tolist() == [2, 2]
