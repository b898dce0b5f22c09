"""What the extras bring, what works without them, and what is said where one is missing.

Modules are hidden in processes of their own.
"""

import re
import subprocess
import sys
import tomllib
from importlib.metadata import packages_distributions

import pytest

from helpers.reference import PROJECT
from spotgeo_frames.support.packages import EXTRAS

# What needs each extra, and how its message begins.
NEEDED = {
    "plots": ("sf.plots.recall_map(sf.match(sf.read_spotgeo(TRUTH), sf.read_spotgeo(TRUTH)))", "plots: matplotlib"),
    "plots of several panels": (
        "sf.plots.sequence(sf.match(sf.read_spotgeo(TRUTH), sf.read_spotgeo(TRUTH)), 1)",
        "plots: matplotlib",
    ),
    "parallel": (
        "from spotgeo_frames.scale import run; run.FEW_ROWS = 0; sf.score_dataset(TABLE, TABLE)",
        "several processes (workers=1 needs none): loky",
    ),
    "parallel for a function": (
        "sf.score_dataset(TABLE, TABLE, similarity=lambda truth, predicted: truth['x'] * 0, threshold=0.5)",
        "a similarity or distance that is a function: cloudpickle",
    ),
    "posetrack": ("sf.read_posetrack('data/poses/truth', 'data/poses/tracker')", "read_posetrack (regions to ignore)"),
    "masks": (
        "import pandas as pd; outlines = pd.DataFrame({'sequence': 1, 'frame': 1, 'outline': [[[0, 0, 4, 0, 4, 4]]]}); "
        "sf.tidy(outlines, mask='outline', size=(9, 9))",
        "polygons of masks: pycocotools",
    ),
    "dask": (
        "from spotgeo_frames.cli.app import main; sys.argv[1:] = "
        "['score', TABLE, TABLE, '--dataset', '--scheduler', 'tcp://localhost:1']; main()",
        "a Dask cluster: distributed",
    ),
    "charts": ("sf.charts.recall_map(sf.match(sf.read_spotgeo(TRUTH), sf.read_spotgeo(TRUTH)))", "charts: altair"),
    "fsspec": ("sf.read_objects('memory://truth.parquet')", "memory://truth.parquet: addresses of this kind: fsspec"),
    "report": ("sf.report(sf.read_spotgeo(TRUTH), sf.read_spotgeo(TRUTH), 'report.html')", "report: jinja2"),
    "yolo": (
        "import pathlib, tempfile; folder = pathlib.Path(tempfile.mkdtemp()); (folder / 'a.txt').write_text(''); "
        "sf.read_yolo(folder, folder)",
        "read_yolo: images: PIL",
    ),
    "video": (
        "sf.video(sf.match(sf.read_spotgeo(TRUTH), sf.read_spotgeo(TRUTH)), 1, 'out/video.mp4')",
        "video: matplotlib, PIL, av",
    ),
    "completion": (
        "from spotgeo_frames.cli.app import main; sys.argv[1:] = ['completion', 'bash']; main()",
        "completion: shtab",
    ),
    "widget": ("sf.explore(sf.match(sf.read_spotgeo(TRUTH), sf.read_spotgeo(TRUTH)))", "explore: anywidget"),
}

# What needs no extra.
BASE = """
from spotgeo_frames import *
import inspect
inspect.getmembers(sf)
truth, predictions = sf.read_spotgeo(TRUTH), sf.read_spotgeo("data/sample/eager.json")
matches = sf.match(truth, predictions)
sf.summarize(matches), sf.intervals(matches), sf.compare({"a": matches, "b": matches}), sf.diagnose(matches)
sf.check(truth, predictions), sf.worst_slices(matches, ["truth_x"]), sf.object_summary(matches)
sf.track(*sf.read_motchallenge("data/tracks/truth", "data/tracks/tracker"))
sf.score_dataset(TABLE, TABLE), sf.show_tables()
"""


def python(code: str, hidden: list[str]) -> subprocess.CompletedProcess[str]:
    """Runs code with hidden modules; TRUTH and TABLE are files of the sample."""
    names = "TRUTH, TABLE = 'data/sample/truth.json', 'data/sample/truth.parquet'"
    given = f"import sys\nsys.modules.update(dict.fromkeys({hidden}))\nimport spotgeo_frames as sf\n{names}\n{code}"
    return subprocess.run([sys.executable, "-c", given], capture_output=True, text=True, timeout=120, cwd=PROJECT)


@pytest.mark.parametrize("name", NEEDED)
def test_a_missing_extra_says_what_to_install(name: str) -> None:
    code, beginning = NEEDED[name]
    extra = name.split()[0]
    done = python(code, [*EXTRAS[extra]])
    said = done.stderr.strip().splitlines()[-1].removeprefix("ImportError: ")
    assert done.returncode == 1
    assert said.startswith(beginning)
    assert f"pip install 'spotgeo_frames[{extra}]'" in said


def test_every_extra_is_tried() -> None:
    assert {name.split()[0] for name in NEEDED} == {*EXTRAS}


def test_everything_else_works_without_extras() -> None:
    done = python(BASE, [module for modules in EXTRAS.values() for module in modules])
    assert done.returncode == 0, done.stderr


def test_the_first_page_lists_every_extra() -> None:
    page = (PROJECT / "docs" / "start.md").read_text("utf-8")
    assert re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE) == [*EXTRAS, "all"]


def test_extras_are_those_of_the_package() -> None:
    extras = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert extras["all"] == [f"spotgeo_frames[{','.join(EXTRAS)}]"]
    of_module = packages_distributions()
    for extra, modules in EXTRAS.items():
        installed = [text.partition(">=")[0].lower().replace("-", "_") for text in extras[extra]]
        brought = [*modules] if extra != "parallel" else ["loky"]  # which brings cloudpickle
        assert {of_module[name][0].lower().replace("-", "_") for name in brought} == {*installed}
