"""The numbers of the samples are the same bytes on every machine, as far as one machine can look like another.

Processes run as on older processors, whose code for newer ones NumPy leaves out, with one thread and two, in another
order of sets, and in another language and time zone.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from helpers.reference import PROJECT

# What NumPy has code of its own for, beyond what all processors have, and this processor has.
FEATURES = np.show_config(mode="dicts").get("SIMD Extensions", {}).get("found", [])
OF_AVX512 = [name for name in FEATURES if name.startswith(("AVX512", "X86_V4"))]


def machine(features: list[str], threads: int, hash_seed: int, language: str, time_zone: str) -> dict[str, str]:
    """The environment of a process on a machine that lacks these features."""
    disabled = " ".join({*os.environ.get("NPY_DISABLE_CPU_FEATURES", "").split(), *features})
    limits = dict.fromkeys(["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"], str(threads))
    # Without these two, Python turns the language C into UTF-8.
    names = {"LC_ALL": language, "LANG": language, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    others = {"PYTHONHASHSEED": str(hash_seed), "TZ": time_zone, "NPY_DISABLE_CPU_FEATURES": disabled}
    return {**os.environ, **limits, **names, **others}


MACHINES = {
    "this one": machine([], 2, 0, os.environ.get("LANG", "C.UTF-8"), "UTC"),
    "one without AVX-512": machine(OF_AVX512, 1, 1, "tr_TR.UTF-8", "Asia/Kathmandu"),
    "an old one": machine(FEATURES, 2, 2, "C", "America/St_Johns"),
}


def numbers(environment: dict[str, str]) -> dict[str, list[str]]:
    """The lines of each result of the samples, from a process with this environment."""
    words = [sys.executable, "-m", "helpers.sample_numbers"]
    done = subprocess.run(words, cwd=PROJECT / "tests", env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, list[str]]]:
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(MACHINES, pool.map(numbers, MACHINES.values()), strict=True))


@pytest.mark.parametrize("name", [name for name in MACHINES if name != "this one"])
def test_every_machine_has_the_same_numbers(found: dict[str, dict[str, list[str]]], name: str) -> None:
    here, there = found["this one"], found[name]
    assert list(here) == list(there)
    differ = {
        of: [pair for pair in zip(lines, there[of], strict=True) if pair[0] != pair[1]][:3]
        for of, lines in here.items()
        if lines != there[of]
    }
    assert differ == {}
