"""The colours: of outcomes, of submissions, of paper and ink; and the shapes, lines and hatches beside them.

All hex colours are defined here. Any two of the first five colours of submissions, of which four are those of
outcomes, can be told apart with any kind of colour vision. On white and on black they also differ in lightness, so that
they can be told apart in grey; where a picture has to suit both, shapes and lines do that.
"""

from typing import Final, NamedTuple


class Palette(NamedTuple):
    """The colours of one kind of paper, as #rrggbb.

    Attributes
    ----------
    paper, panel
        What pictures lie on, and what stands out from it a little.
    ink, muted, faint, line
        Text, text that stands back, edges, and lines of grids.
    link, warning
        Colour of links and selected items; background of warnings.
    nothing, ignored
        Colour of empty map cells; colour of ignored objects.
    series
        The colours of submissions, by their position.
    """

    paper: str
    panel: str
    ink: str
    muted: str
    faint: str
    line: str
    link: str
    warning: str
    nothing: str
    ignored: str
    series: tuple[str, ...]

    @property
    def outcomes(self) -> dict[str, str]:
        """The colours of truths that are found and missed, and of predictions that are right and false."""
        right, false, found, missed, *_ = self.series
        return {"found": found, "missed": missed, "right": right, "false": false}

    def of(self, position: int) -> str:
        """The colour of the submission at a position; they recur."""
        return self.series[position % len(self.series)]


LIGHT = Palette(
    paper="#ffffff",
    panel="#f5f6f8",
    ink="#1b1f24",
    muted="#4c5560",
    faint="#8b95a1",
    line="#dfe3e8",
    link="#0b57a4",
    warning="#fff4d6",
    nothing="#e4e4e4",
    ignored="#6b7580",
    series=("#006bb0", "#bc7f28", "#1f8b73", "#a81e1e", "#74055c", "#5b6570", "#7b4fa3", "#5a7a00"),
)

DARK = Palette(
    paper="#14171b",
    panel="#1e2329",
    ink="#e8ebef",
    muted="#b3bcc6",
    faint="#7b8794",
    line="#343b44",
    link="#7cb8ef",
    warning="#45380f",
    nothing="#3a3f46",
    ignored="#929da8",
    series=("#4c9ffb", "#f5a742", "#a5ecb9", "#e05f4c", "#f7b6ea", "#aab4bf", "#c39be6", "#b5d34a"),
)

# About halfway between white and black, for charts of notebooks, which may be light or dark.
BETWEEN = LIGHT._replace(
    ink="#7c7c7c",
    faint="#8c8c8d",
    nothing="rgba(128, 128, 128, 0.2)",
    series=("#2a7fe8", "#ba8421", "#37987e", "#c3694b", "#dd66c0", "#7f8a96", "#9a6fc8", "#7d9720"),
)

# Over pictures, which may be of any colour: marks have a dark rim.
OVER_PICTURES = DARK._replace(ink="#ffffff", link="#ffffff", ignored="#c8ced6")

# Shares and counts in maps, from dark to light, by the name that both Matplotlib and Vega have for these colours.
SEQUENTIAL: Final = "cividis"


class Look(NamedTuple):
    """What tells a submission apart besides its colour.

    Attributes
    ----------
    marker, line, hatch
        As Matplotlib has them.
    shape, dashes
        As Vega has them.
    outline
        The shape as a path of SVG, with the places of its sides in braces.
    """

    marker: str
    line: str | tuple[int, tuple[float, ...]]
    hatch: str
    shape: str
    dashes: tuple[int, ...]
    outline: str


LOOKS = (
    Look("o", "-", "", "circle", (1, 0), "M{left} {y}a{r} {r} 0 1 0 {size} 0a{r} {r} 0 1 0 -{size} 0z"),
    Look("s", "--", "//", "square", (6, 3), "M{left} {top}h{size}v{size}h-{size}z"),
    Look("^", ":", "..", "triangle-up", (2, 2), "M{left} {bottom}h{size}l-{r} -{size}z"),
    Look("D", "-.", "xx", "diamond", (8, 3, 2, 3), "M{left} {y}l{r} -{r}l{r} {r}l-{r} {r}z"),
    Look("v", (0, (8, 3)), "--", "triangle-down", (12, 4), "M{left} {top}h{size}l-{r} {size}z"),
)


def look(position: int) -> Look:
    """The look of the submission at a position; looks recur, though not together with the same colours.

    >>> look(0).shape, look(1).shape, look(5).shape
    ('circle', 'square', 'circle')
    """
    return LOOKS[position % len(LOOKS)]
