"""Arrays, lists and tensors of torch on any device as NumPy arrays; torch is not needed.

Tensors are told by what they can do, so torch is never imported.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import InputError, check_memory


def as_array(value: Any, place: str) -> np.ndarray:
    """An array, a tensor on any device, a list or a single value as an array; messages call it `place`.

    Raises InputError for a tensor that requires a gradient, for masked values, for a list in which some values are text
    and others not, and for what is no array.
    """
    if getattr(value, "requires_grad", False):
        raise InputError(f"{place}: is a tensor that requires a gradient; give tensor.detach(), or use torch.no_grad()")
    if isinstance(value, np.ndarray) and np.any(getattr(value, "mask", False)):
        raise InputError(f"{place}: has masked values, which NumPy would take for valid ones; leave their rows out")
    try:
        array = np.asarray(_without_device(value) if hasattr(value, "detach") else value)
    except (TypeError, ValueError, RuntimeError) as error:
        check_memory(error, place)
        raise InputError(f"{place}: cannot be made an array: {error}") from None
    is_list_of_text = isinstance(value, list | tuple) and array.dtype.kind == "U" and array.ndim == 1
    if is_list_of_text and not all(isinstance(item, str) for item in value):  # NumPy made text of them
        raise InputError(f"{place}: has text beside other values; give text only, or numbers only")
    return array


def number_array(value: Any, place: str) -> np.ndarray:
    """The same, of numbers or truth values; raises InputError for what holds something else."""
    array = as_array(value, place)
    if array.dtype.kind not in "biuf":
        raise InputError(f"{place}: is of type {array.dtype}; an array of numbers is needed")
    return array


def _without_device(tensor: Any) -> Any:
    """A tensor in the memory that NumPy sees."""
    here = tensor.cpu()
    try:
        return here.numpy()
    except TypeError:  # a type that NumPy does not have, such as bfloat16
        return here.double().numpy()
