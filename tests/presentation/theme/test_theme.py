"""The theme: colours that can be told apart with any kind of colour vision and in grey, and that stand in one place."""

import re
from itertools import combinations

import numpy as np
import pytest

from helpers.reference import PROJECT
from spotgeo_frames.presentation.theme import BETWEEN, LIGHT, LOOKS, look
from spotgeo_frames.presentation.theme.palettes import DARK, OVER_PICTURES, SEQUENTIAL, Palette
from spotgeo_frames.presentation.theme.styles import page_style, viewer_rule, viewer_style

PACKAGE = PROJECT / "spotgeo_frames"
PALETTES = {"light": LIGHT, "dark": DARK, "between": BETWEEN, "over pictures": OVER_PICTURES}

# How people without cones for long and for medium waves see linear sRGB: Machado, Oliveira and Fernandes, "A
# physiologically-based model for simulation of color vision deficiency", 2009, severity 1.
VISIONS = {
    "all cones": np.eye(3),
    "protanopia": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "deuteranopia": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]]
    ),
}
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
)
WHITE = np.array([0.95047, 1.0, 1.08883])

# The least distance of two colours in CIELAB, and of their lightness; of 2 or 3, people see a difference.
APART, APART_IN_GREY = 15, 4


def linear(color: str) -> np.ndarray:
    """A colour #rrggbb as linear sRGB, from 0 to 1."""
    parts = np.array([int(color[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(color: str, vision: str = "all cones") -> np.ndarray:
    """The lightness, a and b of a colour in CIELAB, as people with this kind of vision see it."""
    xyz = TO_XYZ @ (VISIONS[vision] @ linear(color)).clip(0, 1) / WHITE
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(one: str, other: str) -> float:
    """The ratio of luminances, as WCAG has it."""
    low, high = sorted(float(TO_XYZ[1] @ linear(color)) + 0.05 for color in (one, other))
    return high / low


@pytest.mark.parametrize("vision", VISIONS)
@pytest.mark.parametrize("name", PALETTES)
def test_outcomes_and_five_submissions_are_told_apart(name: str, vision: str) -> None:
    palette = PALETTES[name]
    for colors in (palette.series[:5], [*palette.outcomes.values()]):
        for one, other in combinations(colors, 2):
            assert np.linalg.norm(lab(one, vision) - lab(other, vision)) >= APART, (one, other)


@pytest.mark.parametrize("name", ["light", "dark", "over pictures"])
def test_they_are_told_apart_in_grey(name: str) -> None:
    for one, other in combinations(PALETTES[name].series[:5], 2):
        assert abs(lab(one)[0] - lab(other)[0]) >= APART_IN_GREY, (one, other)


def test_shapes_and_lines_tell_submissions_apart_where_grey_does_not() -> None:
    """Colours between light and dark have nearly one lightness, and more than five have it on any paper."""
    for field in ("marker", "line", "hatch", "shape", "dashes", "outline"):
        assert len({getattr(one, field) for one in LOOKS}) == len(LOOKS), field
    n_series = len(LIGHT.series)
    assert len({(LIGHT.of(place), look(place)) for place in range(n_series * len(LOOKS))}) == n_series * len(LOOKS)


@pytest.mark.parametrize(
    ("palette", "papers"),
    [(LIGHT, (LIGHT.paper, LIGHT.panel)), (DARK, (DARK.paper, DARK.panel)), (BETWEEN, ("#ffffff", "#333333"))],
)
def test_marks_stand_out_from_paper(palette: Palette, papers: tuple[str, str]) -> None:
    for color in [*palette.series, *palette.outcomes.values()]:
        for paper in papers:
            assert contrast(color, paper) >= 3, (color, paper)


@pytest.mark.parametrize("palette", [LIGHT, DARK])
def test_text_can_be_read(palette: Palette) -> None:
    for color in (palette.ink, palette.muted, palette.link):
        for paper in (palette.paper, palette.panel):
            assert contrast(color, paper) >= 4.5, (color, paper)


def test_maps_grow_lighter_from_end_to_end() -> None:
    """So they can be read in grey, too."""
    colors = pytest.importorskip("matplotlib").colormaps[SEQUENTIAL](np.linspace(0, 1, 20))
    hexes = ["#" + "".join(f"{round(part * 255):02x}" for part in color[:3]) for color in colors.tolist()]
    assert np.all(np.diff([lab(color)[0] for color in hexes]) > 1)


def test_no_other_file_has_a_colour_as_a_number() -> None:
    color = re.compile(
        r"(?<![&\w])#(?:[0-9a-fA-F]{3,4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})\b|\brgba?\((?!0 0 0 /)[\d ,./]+\)"
    )
    kinds = {".py", ".css", ".js", ".html", ".svg"}
    found = {
        str(path.relative_to(PACKAGE)): color.findall(path.read_text("utf-8"))
        for path in sorted(PACKAGE.rglob("*"))
        if path.suffix in kinds and "mjs" not in path.name
    }
    of_icon = found.pop("presentation/page/html/assets/icon.svg")  # a file by itself, which the site has, too
    assert {*of_icon} <= {*LIGHT.outcomes.values(), *DARK.outcomes.values()}
    assert {name for name, colors in found.items() if colors} == {"presentation/theme/palettes.py"}


def test_page_and_viewer_have_the_colours_of_the_theme() -> None:
    page, viewer = page_style(), viewer_style()
    for palette in (LIGHT, DARK):
        for position, color in enumerate(palette.series, 1):
            assert f"--series-{position}: {color};" in page
            assert f"--viewer-series-{position}: var(--series-{position}, {color});" in viewer
        for name, color in palette.outcomes.items():
            assert f"--{name}: {color};" in page
            assert f"--viewer-{name}: var(--{name}, {color});" in viewer
    assert viewer_rule(".a", "dark").startswith(".a {\n  --viewer-scheme: dark;")


def test_scripts_and_templates_know_how_many_colours_there_are() -> None:
    assets = PACKAGE / "presentation" / "page" / "html" / "assets"
    n_series = len(LIGHT.series)
    assert f"MOST_SERIES = {n_series};" in (assets / "class_curves.js").read_text()
    for name in ("marks.html", "page.html"):
        assert {int(n) for n in re.findall(r"series % (\d+)", (assets / name).read_text())} == {n_series}
