"""Arguments that have a new name: the old one still works, with a warning that says until when."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from functools import update_wrapper
from types import FunctionType
from typing import Any, NamedTuple, ParamSpec, TypeVar

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


class Deprecation(NamedTuple):
    """The argument `old` has been called `new` since a version, and ends in another, not before a day (ISO 8601)."""

    old: str
    new: str
    since: str
    until: str
    not_before: str


def renamed(
    deprecation: Deprecation, converted: Callable[[Any], Any] = lambda value: value
) -> Callable[[Callable[Parameters, Result]], Callable[Parameters, Result]]:
    """A decorator of functions that still take an argument by its old name; `converted` makes of it what the new takes.

    The signature has the new name alone. The function lists what is deprecated as `deprecated_arguments`. A call with
    the old name gives a DeprecationWarning; with both names, the function raises TypeError, as for any argument that is
    given twice.
    """

    def decorated(function: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
        position = list(inspect.signature(function).parameters).index(deprecation.new)
        in_new_words, name = _in_new_words, getattr(function, "__name__", "")

        def taking_both(*args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
            if deprecation.old in kwargs:
                in_new_words(name, deprecation, converted, len(args) > position, kwargs)
            return function(*args, **kwargs)

        # A copy with the globals of the function's module, because doctest looks only at functions that have those. So
        # `taking_both` uses no global name of this module.
        own: Any = FunctionType(taking_both.__code__, function.__globals__, None, None, taking_both.__closure__)
        update_wrapper(own, function)
        own.deprecated_arguments = [deprecation]
        return own

    return decorated


def _in_new_words(
    name: str, deprecation: Deprecation, converted: Callable[[Any], Any], is_given: bool, kwargs: dict[str, Any]
) -> None:
    """Gives an argument its new name and warns; raises TypeError if that is given, too."""
    old, new, _, until, not_before = deprecation
    if is_given or new in kwargs:
        raise TypeError(f"{name}() got both {old}= and {new}=, which is its new name")
    ends = f"{old}= ends in version {until}, not before {not_before}"
    warnings.warn(f"spotgeo_frames: {name}() takes {new}= in place of {old}=; {ends}", DeprecationWarning, stacklevel=3)
    kwargs[new] = converted(kwargs.pop(old))
