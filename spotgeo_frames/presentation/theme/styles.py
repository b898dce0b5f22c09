"""The colours as variables of CSS: for the page, and for the viewer, which takes those of the page if it is in one."""

from .palettes import DARK, LIGHT, OVER_PICTURES, Palette

# Printed pages are light, whatever the screen is.
ON_DARK_SCREENS = "@media screen and (prefers-color-scheme: dark) {{\n{}\n}}\n"

# What the viewer calls two of the page's colours.
OF_VIEWER = {"faint": "edge", "link": "chosen"}


def page_style() -> str:
    """The colours of the page as variables of CSS, and a class for each submission."""
    light, dark = (_rule(":root", _variables(palette)) for palette in (LIGHT, DARK))
    classes = [f".series-{n} {{ color: var(--series-{n}); }}\n" for n in range(1, len(LIGHT.series) + 1)]
    return "".join([light, ON_DARK_SCREENS.format(dark), *classes])


def viewer_style(where: str = ".viewer") -> str:
    """The colours of the viewer by the scheme of the screen, for a selector of CSS."""
    light, dark = (viewer_rule(where, scheme) for scheme in ("light", "dark"))
    return light + ON_DARK_SCREENS.format(dark)


def viewer_rule(where: str, scheme: str) -> str:
    """The colours of the viewer by a scheme, "light" or "dark", for a selector of CSS."""
    palette = {"light": LIGHT, "dark": DARK}[scheme]
    own = {
        f"--viewer-{OF_VIEWER.get(name, name)}": f"var(--{name}, {color})" for name, color in _colors(palette).items()
    }
    over = _colors(OVER_PICTURES)
    pictures = {
        f"--viewer-over-{OF_VIEWER.get(name, name)}": over[name] for name in ("ink", "paper", "link", "nothing")
    }
    pictures["--viewer-over-marks"] = " ".join([*OVER_PICTURES.outcomes.values(), OVER_PICTURES.ignored])
    pictures["--viewer-over-series"] = " ".join(OVER_PICTURES.series)
    return _rule(where, {"--viewer-scheme": scheme} | own | pictures)


def _colors(palette: Palette) -> dict[str, str]:
    """The colours of a palette by their names."""
    plain = {name: color for name, color in palette._asdict().items() if name != "series"}
    numbered = {f"series-{n}": color for n, color in enumerate(palette.series, 1)}
    return plain | palette.outcomes | numbered


def _variables(palette: Palette) -> dict[str, str]:
    """The colours of a palette as variables of CSS."""
    return {f"--{name}": color for name, color in _colors(palette).items()}


def _rule(where: str, variables: dict[str, str]) -> str:
    """A rule of CSS that sets variables."""
    lines = "".join(f"  {name}: {value};\n" for name, value in variables.items())
    return f"{where} {{\n{lines}}}\n"
