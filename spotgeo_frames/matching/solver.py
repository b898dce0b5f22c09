"""SciPy's `linear_sum_assignment`, without the rest of `scipy.optimize` where that can be avoided.

`import scipy.optimize` takes several times as long as `import numpy`, and the solver needs none of it: it is one
function in an extension module of its own, `scipy.optimize._lsap`. So that module is loaded from its file. What is in
the file is no part of SciPy's public interface; where there is no such file, where it cannot be loaded, or where it
does not solve a matrix with a known answer, the public import is used.
"""

import sys
from collections.abc import Callable
from functools import cache
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader, ModuleSpec
from importlib.util import find_spec, module_from_spec
from pathlib import Path

import numpy as np

Solver = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]

# SciPy's own name of the module. Python then knows the two for one, and a later `import scipy.optimize` uses it again.
EXTENSION = "scipy.optimize._lsap"

# A matrix with a single best assignment, and that assignment of it and of the same matrix on its side.
KNOWN_COSTS = np.array([[4.0, 1.0, 3.0], [2.0, 0.0, 5.0], [3.0, 2.0, 2.0], [0.5, 7.0, 9.0]])
KNOWN_ANSWERS = [[[1, 2, 3], [1, 2, 0]], [[0, 1, 2], [3, 1, 2]]]


@cache
def assignment_solver() -> Solver:
    """Returns `scipy.optimize.linear_sum_assignment`, or the same function loaded from SciPy's extension module."""
    solver = None if "scipy.optimize" in sys.modules else _loaded()
    if solver is None:
        from scipy.optimize import linear_sum_assignment

        return linear_sum_assignment
    return solver


def _loaded() -> Solver | None:
    """The solver of the extension module, or None where it cannot be had or is not what it should be."""
    try:
        spec = find_spec("scipy")  # imports nothing
        folders = spec.submodule_search_locations if spec else None
        files = [Path(folder, "optimize", f"_lsap{end}") for folder in folders or () for end in EXTENSION_SUFFIXES]
        solver = next((_from_file(file) for file in files if file.is_file()), None)
        return solver if solver and _solves(solver) else None
    except Exception:  # whatever is wrong with the file, the public import works, or says what is wrong with SciPy
        return None


def _from_file(file: Path) -> Solver:
    """The solver in an extension module; leaves `sys.modules` as it is."""
    loader = ExtensionFileLoader(EXTENSION, str(file))
    known = EXTENSION in sys.modules
    module = module_from_spec(ModuleSpec(EXTENSION, loader, origin=str(file)))
    loader.exec_module(module)
    if not known:
        sys.modules.pop(EXTENSION, None)  # Python adds some extension modules itself, but not to their package
    return module.linear_sum_assignment


def _solves(solver: Solver) -> bool:
    """Whether the solver finds the single best assignment of KNOWN_COSTS, upright and on its side."""
    matrices = KNOWN_COSTS, np.ascontiguousarray(KNOWN_COSTS.T)
    return [[part.tolist() for part in solver(costs)] for costs in matrices] == KNOWN_ANSWERS
