"""SciPy's special functions, without the rest of `scipy.special` where that can be avoided.

`import scipy.special` takes longer than most intervals, since it also makes variants for the arrays of other libraries
and, on the way, loads all of NumPy. The functions themselves are in the extension module `scipy.special._ufuncs`, which
needs nothing of that. So it is loaded while a stand-in takes the place of its package. The extension module is no part
of SciPy's public interface; where it cannot be loaded, or where a function has not its known value, the public import
is used.
"""

import sys
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, get_ident
from types import ModuleType
from typing import Any

PACKAGE, FUNCTIONS = "scipy.special", "scipy.special._ufuncs"

# Functions with arguments, and what they return.
KNOWN = {
    "expit": ((0.0,), 0.5),
    "logit": ((0.5,), 0.0),
    "cbrt": ((27.0,), 3.0),
    "ndtri": ((0.5,), 0.0),
    "stdtr": ((3.0, 0.0), 0.5),
    "stdtrit": ((1.0, 0.75), 1.0),
    "betainc": ((1.0, 1.0, 0.25), 0.25),
    "betaincinv": ((1.0, 1.0, 0.25), 0.25),
    "chdtri": ((2.0, 1.0), 0.0),
    "pdtrc": ((0.0, 0.0), 0.0),
    "sindg": ((30.0,), 0.5),
    "cosdg": ((60.0,), 0.5),
}


LOADING = Lock()


class _StandIn(ModuleType):
    """The package while its extension module loads; to other threads that import it meanwhile, the package itself."""

    def __init__(self, folder: str):
        super().__init__(PACKAGE)
        self.__path__ = [folder]
        self._thread = get_ident()

    def __getattr__(self, name: str) -> Any:
        if get_ident() == self._thread and sys.modules.get(PACKAGE) is self:
            raise AttributeError(name)
        with LOADING:
            package = import_module(PACKAGE)
        return getattr(package, name)


@cache
def special_functions() -> ModuleType:
    """Returns a module with the functions of KNOWN: `scipy.special`, or the extension module that it has them from."""
    with LOADING:
        functions = None if PACKAGE in sys.modules else _loaded()
    return import_module(PACKAGE) if functions is None else functions


def _loaded() -> ModuleType | None:
    """The extension module of the functions, or None where it cannot be had or is not what it should be."""
    spec = find_spec("scipy")  # imports nothing
    folders = (spec and spec.submodule_search_locations) or [""]
    stand_in = _StandIn(str(Path(folders[0], "special")))
    if sys.modules.setdefault(PACKAGE, stand_in) is not stand_in:  # another thread imports it
        return None
    try:
        functions = import_module(FUNCTIONS)
        return functions if _is_right(functions) else None
    except Exception:  # whatever is wrong with the files, the public import works, or says what is wrong with SciPy
        return None
    finally:
        for name, module in [*sys.modules.items()]:
            # Python finds the same extension modules again for `import scipy.special`; others are not loaded twice,
            # because the warnings that functions give have to stay the same classes.
            if name.startswith(f"{PACKAGE}.") and not str(module.__file__).endswith(".py"):
                del sys.modules[name]
        del sys.modules[PACKAGE]  # last, since from now on other threads import the package


def _is_right(functions: ModuleType) -> bool:
    """Whether the functions have their known values."""
    return all(abs(getattr(functions, name)(*given) - value) < 1e-9 for name, (given, value) in KNOWN.items())
