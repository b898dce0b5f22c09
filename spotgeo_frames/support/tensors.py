"""Arrays, lists and tensors of torch on any device as NumPy arrays; torch is not needed."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import InputError


def as_array(values: Any, name: str) -> np.ndarray:
    """An array, a tensor or a list as a NumPy array; messages call it `name`.

    Raises InputError for a tensor that has gradients, and for what is no array of numbers.
    """
    if hasattr(values, "detach"):
        if getattr(values, "requires_grad", False):
            what = "is a tensor with gradients; call the model within torch.no_grad(), or give .detach() of it"
            raise InputError(f"{name}: {what}")
        values = values.cpu()
        if str(values.dtype) == "torch.bfloat16":  # which NumPy does not know
            values = values.float()
        values = values.numpy()
    try:
        array = np.asarray(values)
    except ValueError:
        raise InputError(f"{name}: is no array: its rows have different lengths") from None
    if array.dtype.kind not in "biuf":
        raise InputError(f"{name}: is of type {array.dtype}; an array of numbers is needed")
    return array
