"""Plots as people put them together: each takes Axes, a label, colours and options, and draws nowhere else."""

import inspect
import io
import re
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import PowerNorm, to_hex
from matplotlib.figure import Figure

import spotgeo_frames as sf
from helpers.plotted import DATA, Plotted, every_plot
from helpers.problems import refused
from spotgeo_frames.presentation.theme import LIGHT

mpl.use("Agg")

NAMES = sorted(sf.plots.__all__)
OF_PANELS = ("gallery", "patches", "sequence", "strip", "sweep_curves")


@pytest.fixture(autouse=True)
def settings() -> Iterator[None]:
    """No plot changes the settings of Matplotlib."""
    before = dict(mpl.rcParams)
    yield
    assert dict(mpl.rcParams) == before
    plt.close("all")


def of(name: str) -> Plotted:
    with warnings.catch_warnings():  # of few sequences, which the tables are made of
        warnings.simplefilter("ignore")
        return every_plot()[name]


def drawn(figure: Figure, **options: Any) -> bytes:
    """The figure as a file, a coarse one without a word; any warning of Matplotlib fails."""
    file, options = io.BytesIO(), {"dpi": 40} | options
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        figure.savefig(file, **options)
    return file.getvalue()


def legend_texts(ax: Any) -> list[str]:
    """The texts of the legend of Axes, of the last of several, or of their figure."""
    last = np.ravel(ax)[-1]
    legends = [last.get_legend()] if last.get_legend() else last.figure.legends
    return [text.get_text() for legend in legends for text in legend.get_texts()]


def colors_of(ax: Any) -> set[str]:
    """The colours of lines, patches and collections of Axes, as #rrggbb."""
    found: set[str] = set()
    for one in np.ravel(ax):
        found |= {to_hex(line.get_color()) for line in one.lines}
        found |= {to_hex(color) for patch in one.patches for color in (patch.get_facecolor(), patch.get_edgecolor())}
        found |= {to_hex(color) for group in one.collections for color in group.get_facecolor()}
        found |= {to_hex(color) for group in one.collections for color in group.get_edgecolor()}
    return found


def test_every_plot_is_here() -> None:
    assert sorted(every_plot()) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_every_plot_takes_the_same_words(name: str) -> None:
    parameters = inspect.signature(getattr(sf.plots, name)).parameters
    positional = [word for word, of in parameters.items() if of.kind is of.POSITIONAL_OR_KEYWORD]
    assert positional[-3:] == ["ax", "label", "color"]
    assert all(parameters[word].default is None for word in positional[-3:])
    [options] = [word for word, of in parameters.items() if of.kind is of.VAR_KEYWORD]
    told = inspect.getdoc(getattr(sf.plots, name)) or ""
    assert re.search(rf"^{options}\n    Options of Matplotlib for the ", told, re.MULTILINE)


@pytest.mark.parametrize("layout", [None, "constrained", "tight"])
@pytest.mark.parametrize("name", NAMES)
def test_every_plot_stays_in_its_place_of_a_grid(name: str, layout: Any) -> None:
    figure, grid = plt.subplots(2, 2, figsize=(16, 12), layout=layout)
    before, others = plt.get_fignums(), [ax for ax in grid.ravel() if ax is not grid[0, 1]]
    places = [ax.get_position().bounds for ax in others]
    answer = of(name).draw(name, ax=grid[0, 1])
    assert plt.get_fignums() == before
    assert {ax.figure for ax in np.ravel(answer)} == {figure}
    if name in OF_PANELS:
        assert grid[0, 1] not in figure.axes
    else:
        assert answer is grid[0, 1]
    drawn(figure)
    for ax in others:
        assert not ax.has_data()
        assert ax.get_legend() is None
    if layout is None:
        assert [ax.get_position().bounds for ax in others] == places
    for ax in np.ravel(answer):
        beside = [ax.get_legend(), *ax.child_axes] if layout is None else [ax]  # without one, long names may reach out
        for box in [one.get_tightbbox() for one in beside if one]:
            assert not any(box.overlaps(other.get_tightbbox()) for other in others)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OF_PANELS])
def test_several_calls_are_told_apart(name: str) -> None:
    given = of(name)
    ax = plt.subplots(layout="constrained")[1]
    given.draw(name, ax=ax, label="one")
    if given.covers:
        with refused((f"plots: {name} fills", "empty Axes")):
            given.draw(name, given.given[1], ax=ax, label="two")
        assert ax.get_title().startswith("one: ")
        return
    first = legend_texts(ax)
    given.draw(name, given.given[1], ax=ax, label="two")
    texts = legend_texts(ax)
    assert len(texts) == len({*texts}) > len(first)
    assert any(text.startswith("one") for text in texts)
    assert any(text.startswith("two") for text in texts)
    wanted = {LIGHT.series[0], LIGHT.series[1]} if name != "frame" else {LIGHT.series[5]}
    assert wanted <= colors_of(ax)
    drawn(ax.figure)
    ax.clear()
    given.draw(name, ax=ax, label="one")
    assert LIGHT.series[1] not in colors_of(ax) or name == "frame", "cleared Axes begin anew"


@pytest.mark.parametrize("name", NAMES)
def test_a_label_names_what_is_drawn_as_a_dict_would(name: str) -> None:
    given = of(name)
    labelled = given.draw(name, label="the $one")
    if given.several or given.covers:
        by_dict = given.draw(name, {"the $one": given.given[0]})
        assert legend_texts(labelled) == legend_texts(by_dict)
        assert np.ravel(labelled)[0].get_title() == np.ravel(by_dict)[0].get_title()
        with refused(("plots: label", "dict")):
            given.draw(name, {"a": given.given[0]}, label="b")
    if not given.covers:
        assert any(text.startswith(r"the \$one") for text in legend_texts(labelled))
    with refused(("plots: label is", "4", "text")):
        given.draw(name, label=4)


@pytest.mark.parametrize("name", NAMES)
def test_a_colour_takes_the_place_of_the_theme(name: str) -> None:
    given = of(name)
    ax = given.draw(name, color="teal")
    if given.covers:
        mapped = (ax.images or ax.collections)[0].cmap
        assert to_hex(mapped(1.0)) == to_hex("teal")
    else:
        assert to_hex("teal") in colors_of(ax)
        assert not {*LIGHT.series[:3]} & colors_of(ax)
    before = plt.get_fignums()
    for wrong in ("blurple", ["teal", "blurple"] * 5, {"nobody": "teal"}, 4):
        with refused("plots: color"):
            given.draw(name, color=wrong)
    assert plt.get_fignums() == before, "nothing is drawn before"


@pytest.mark.parametrize("name", [name for name in NAMES if of(name).several])
def test_several_submissions_have_the_colours_that_they_are_given(name: str) -> None:
    given = of(name)
    both = dict(zip(("one", "two"), given.given, strict=True))
    names = ["one, tau 10 px", "two, tau 10 px"] if name == "sweep_curves" else ["one", "two"]
    for color in (["teal", "crimson"], dict(zip(names, ("teal", "crimson"), strict=True))):
        assert {to_hex("teal"), to_hex("crimson")} <= colors_of(given.draw(name, both, color=color))
    with refused(("plots: color has", "1 colours", "2 are drawn")):
        given.draw(name, both, color=["teal"])


@pytest.mark.parametrize("name", NAMES)
def test_options_of_matplotlib_reach_the_main_artists(name: str) -> None:
    given = of(name)
    ax = given.draw(name, alpha=0.9)
    artists = [artist for one in np.ravel(ax) for artist in (*one.lines, *one.patches, *one.collections, *one.images)]
    assert 0.9 in [artist.get_alpha() for artist in artists]


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_option_is_refused_by_matplotlib_before_anything_is_drawn(name: str) -> None:
    before, (figure, ax) = plt.get_fignums(), plt.subplots()
    with pytest.raises(AttributeError, match=r"got an unexpected keyword argument 'linewitdh'"):
        of(name).draw(name, ax=ax, linewitdh=3)
    assert figure.axes == [ax]
    assert not ax.has_data()
    assert not ax.get_title()
    with pytest.raises(AttributeError, match="linewitdh"):
        of(name).draw(name, linewitdh=3)
    assert plt.get_fignums() == [*before, figure.number]


STYLES = [style for style in plt.style.available if style.startswith("seaborn")]


@pytest.mark.parametrize("name", NAMES)
def test_every_plot_is_drawn_in_the_styles_of_seaborn(name: str) -> None:
    for style in STYLES[:: max(len(STYLES) // 4, 1)]:
        with plt.style.context(style):
            ax = of(name).draw(name)
            drawn(np.ravel(ax)[0].figure)
            if of(name).covers:
                assert not any(line.get_visible() for line in ax.get_xgridlines()), "a grid would cross the map"
        plt.close("all")


@pytest.mark.parametrize("name", NAMES)
def test_every_plot_is_drawn_at_300_dpi(name: str) -> None:
    ax = of(name).draw(name)
    figure = np.ravel(ax)[0].figure
    size = figure.get_size_inches()
    png = drawn(figure, dpi=300)
    pixels = [int.from_bytes(png[place : place + 4], "big") for place in (16, 20)]
    assert pixels == pytest.approx((300 * size).tolist(), abs=1)


@pytest.mark.parametrize("name", NAMES)
def test_a_pdf_has_text_as_text(name: str) -> None:
    ax = of(name).draw(name)
    with mpl.rc_context({"pdf.fonttype": 42}):
        pdf = drawn(np.ravel(ax)[0].figure, format="pdf")
    assert b"/CIDFontType2" in pdf
    assert b"/Type3" not in pdf
    streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
    texts = b"".join(_inflated(stream) for stream in streams)
    assert re.search(rb"\bT[jJ]\b", texts), "written, not drawn as paths"
    title = np.ravel(ax)[0].get_title()
    assert all(
        f"<{ord(letter):04x}>".encode() in texts for letter in title if letter.isascii() and not letter.isspace()
    )


def _inflated(stream: bytes) -> bytes:
    try:
        return zlib.decompressobj().decompress(stream)  # whose last byte may be taken for the end of a line
    except zlib.error:
        return b""


def test_rows_of_a_further_call_join_those_that_are_there() -> None:
    given = of("metric_by_slice")
    one, two = given.given
    ax = plt.subplots()[1]
    given.draw("metric_by_slice", one[one["frame"] < 4], ax=ax, label="one")
    given.draw("metric_by_slice", two[two["frame"] > 2], ax=ax, label="two")
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["1", "2", "3", "4", "5"]
    assert ax.yaxis_inverted()
    points = {line.get_label(): line.get_ydata() for line in ax.lines}
    np.testing.assert_allclose(np.rint(points["two"]), [2, 3, 4])
    assert not {*points["one"].tolist()} & {*points["two"].tolist()}


def test_bars_of_several_calls_share_their_rows() -> None:
    given = of("error_costs")
    apart, together = plt.subplots(1, 2)[1]
    for name, costs in zip(("one", "two"), given.given, strict=True):
        given.draw("error_costs", costs, ax=apart, label=name)
    given.draw("error_costs", dict(zip(("one", "two"), given.given, strict=True)), ax=together)

    def rows(ax: Axes) -> list[Any]:
        kinds = [tick.get_text() for tick in ax.get_yticklabels()]
        return sorted((kinds[round(bar.get_y() + 0.2)], bar.get_width(), bar.get_height()) for bar in ax.patches)

    assert rows(apart) == rows(together)
    assert not apart.texts, "counts are of one"


def test_panels_go_into_the_axes_that_are_given(tmp_path: Path) -> None:
    given = of("sweep_curves")
    figure, grid = plt.subplots(2, 2)
    for name, curve in zip(("one", "two"), given.given, strict=True):
        answer = given.draw("sweep_curves", curve, ax=grid[0], label=name)
        assert answer.tolist() == grid[0].tolist()
    assert [text.partition(",")[0] for text in legend_texts(answer)] == ["one", "two"]
    assert not grid[1, 0].has_data()
    with refused(("plots: ax has", "3 Axes", "2 panels")):
        given.draw("sweep_curves", ax=[*grid.ravel()[:3]])
    figure.savefig(tmp_path / "grid.png")


def truths() -> sf.Annotations:
    return sf.read_objects(DATA / "sample/truth.parquet", frames=DATA / "sample/frames.parquet")


def matched(name: str = "eager", **rule: Any) -> Any:
    return sf.match(truths(), sf.read_objects(DATA / f"sample/{name}.parquet"), **rule)


@pytest.mark.parametrize("name", ["distances", "residuals"])
@pytest.mark.parametrize("draw", [sf.plots, sf.charts], ids=["plots", "charts"])
def test_tables_of_different_tau_are_refused(draw: Any, name: str) -> None:
    near, far = matched(), matched(tau=20, epsilon=3)
    with refused((f"{draw.__name__.rpartition('.')[2]}: matches are of different tau", "10 (near)", "20 (far)")):
        getattr(draw, name)({"near": near, "far": far})
    with refused((f"{draw.__name__.rpartition('.')[2]}: matches are of different epsilon", "3 (near)", "0 (far)")):
        draw.distances({"near": near, "far": matched(epsilon=0)})


def test_tables_of_different_thresholds_are_refused() -> None:
    sides = sf.read_coco(DATA / "coco/annotations.json", DATA / "coco/fast.json", boxes=True)
    both = {"half": sf.match(*sides), "most": sf.match(*sides, threshold=0.7)}
    for draw in (sf.plots, sf.charts):
        with refused(
            (f"{draw.__name__.rpartition('.')[2]}: matches are of different threshold", "0.5 (half)", "0.7 (most)")
        ):
            draw.distances(both)


def test_calls_in_a_loop_have_the_bins_of_a_dict() -> None:
    both = {name: matched(name) for name in ("eager", "cautious")}
    ax = plt.subplots()[1]
    for name, table in both.items():
        sf.plots.distances(table, ax=ax, label=name)
    heights = [patch.get_xy() for patch in ax.patches]
    for one, other in zip(heights, [patch.get_xy() for patch in sf.plots.distances(both).patches], strict=True):
        np.testing.assert_allclose(one, other)
    np.testing.assert_allclose(np.unique(heights[0][:, 0]), np.linspace(0, 10, 41))
    sf.plots.distances(matched(tau=20, epsilon=3), ax=ax, label="far")
    np.testing.assert_allclose(np.unique(ax.patches[-1].get_xy()[:, 0]), np.linspace(0, 20, 81))


def test_a_nearer_tau_leaves_the_circle_of_a_farther_one_in_sight() -> None:
    ax = plt.subplots()[1]
    sf.plots.residuals(matched(tau=20, epsilon=3), ax=ax, label="far")
    limits = ax.get_xlim(), ax.get_ylim()
    sf.plots.residuals(matched(), ax=ax, label="near")
    assert (ax.get_xlim(), ax.get_ylim()) == limits
    assert {"tau, 10 px", "tau, 20 px"} <= {*legend_texts(ax)}


@pytest.mark.parametrize("name", NAMES)
def test_names_that_begin_with_an_underscore_are_in_the_legend(name: str) -> None:
    given = of(name)
    ax = given.draw(name, label="_base")
    named = legend_texts(ax) or [np.ravel(ax)[0].get_title()]
    assert any(text.lstrip("\u200b").startswith("_base") for text in named)
    drawn(np.ravel(ax)[0].figure)


def test_gospa_of_different_powers_is_refused() -> None:
    with refused(("plots: matches are of different power", "2 (a)", "1 (b)")):
        sf.plots.gospa({"a": matched(assignment="least"), "b": matched(assignment="least", power=1)})


def test_axes_that_panels_took_the_place_of_are_refused() -> None:
    given = of("sweep_curves")
    ax = plt.subplots()[1]
    panels = given.draw("sweep_curves", ax=ax, label="a")
    for name in OF_PANELS:
        with refused(("plots: ax is no longer", "returned")):
            of(name).draw(name, of(name).given[1], ax=ax, label="b")
    given.draw("sweep_curves", given.given[1], ax=panels, label="b")
    assert len(legend_texts(panels)) == 2


def test_costs_of_no_error_say_so() -> None:
    table = matched()
    for rows in (table[table["outcome"] == "empty"], table.head(0)):
        ax = sf.plots.error_costs(sf.error_costs(sf.diagnose(rows)))
        assert [text.get_text() for text in ax.texts] == ["no gain in F1 is known"]


@pytest.mark.parametrize("name", ["error_costs", "protocols"])
def test_bars_refuse_axes_of_other_plots(name: str) -> None:
    for other in ("metric_by_slice", "distances", "error_costs", "protocols"):
        ax = of(other).draw(other)
        if other == name:
            continue
        before = len(ax.get_children())
        with refused((f"plots: {name} moves", "Axes of its own")):
            of(name).draw(name, ax=ax, label="x")
        assert len(ax.get_children()) == before


def test_a_first_table_with_nothing_to_draw_leaves_nothing_behind() -> None:
    table = matched()
    ax, whole = plt.subplots(1, 2)[1]
    sf.plots.distances(table[table["outcome"] != "TP"], ax=ax, label="none")
    assert [text.get_text() for text in ax.texts] == ["no true positives"]
    assert not ax.get_xticks().size
    sf.plots.distances(table[table["outcome"] != "TP"], ax=ax, label="none")
    assert len(ax.texts) == 1
    sf.plots.distances(table, ax=ax, label="eager")
    assert not ax.texts
    sf.plots.distances(table, ax=whole, label="eager")
    assert ax.get_xticks().tolist() == whole.get_xticks().tolist()
    assert ax.get_yticks().tolist() == whole.get_yticks().tolist()


def places_of(ax: Axes) -> dict[str, list[float]]:
    """Where the points of each submission lie in their rows."""
    return {str(line.get_label()): np.asarray(line.get_ydata()).tolist() for line in ax.lines}


def test_points_of_any_calls_lie_beside_each_other() -> None:
    tables = dict(zip("abcdefg", of("metric_by_slice").given * 4, strict=False))
    at_once, by_two, alone = plt.subplots(1, 3)[1]
    sf.plots.metric_by_slice(tables, ax=at_once)
    for pair in ("ab", "cd", "ef", "g"):
        sf.plots.metric_by_slice({name: tables[name] for name in pair}, ax=by_two)
    for name, table in tables.items():
        sf.plots.metric_by_slice(table, ax=alone, label=name)
    assert places_of(at_once) == places_of(by_two) == places_of(alone)
    first = [places[0] for places in places_of(alone).values()]
    assert len({*first}) == len(tables)
    assert max(map(abs, first)) < 0.25
    for line, bars in zip(alone.lines, alone.collections, strict=True):
        assert {y for segment in bars.get_segments() for y in segment[:, 1]} == {*np.asarray(line.get_ydata()).tolist()}


def test_a_pair_has_one_row_in_several_calls() -> None:
    given = of("forest")
    ax = given.draw("forest")
    assert "\np" in ax.get_yticklabels()[0].get_text()
    given.draw("forest", ax=ax, label="again")
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["eager − cautious"]


def test_protocols_that_do_not_apply_say_so_of_every_submission() -> None:
    table = of("protocols").given[0]
    lacking = table.assign(AP=table["AP"].where(table["protocol"] == "coco"))
    ax = plt.subplots()[1]
    for label in (None, None, "three"):
        sf.plots.protocols(lacking, ax=ax, label=label)
        bars = [bar for bar in ax.patches if np.isnan(bar.get_width())]
        said = [text for text in ax.texts if text.get_text() == "does not apply"]
        assert [bar.get_y() + bar.get_height() / 2 for bar in bars] == [text.xy[1] for text in said]
        assert len(said) == len(bars) > 0
        assert all(min(ax.get_ylim()) < text.xy[1] < max(ax.get_ylim()) for text in said)
    assert [text for text in legend_texts(ax) if text.startswith(("AP", "three"))] == ["AP", "AP, 2", "three"]
    drawn(ax.figure)


def test_a_further_line_of_gospa_has_no_colour_of_the_layers() -> None:
    least = [matched(name, assignment="least") for name in ("eager", "cautious")]
    ax = sf.plots.gospa(least[0])
    layers = {to_hex(color) for layer in ax.collections for color in layer.get_facecolor()}
    sf.plots.gospa(least[1], ax=ax, label="b")
    assert to_hex(ax.lines[-1].get_color()) not in {*layers, *LIGHT.outcomes.values()}


def test_frames_of_further_calls_are_told_apart_from_those_before_and_from_switches() -> None:
    tracked = sf.track(*sf.read_motchallenge(DATA / "tracks/truth", DATA / "tracks/tracker")).matches
    row = tracked[tracked["event"] == "switch"].iloc[0]
    frame = row["sequence"], row["frame"]
    ax = sf.plots.frame(tracked, *frame)
    first = legend_texts(ax)
    sf.plots.frame(tracked, *frame, ax=ax)
    assert legend_texts(ax) == [*first, *(f"2: {text}" for text in first[:4])]
    colors = dict(zip(legend_texts(ax), (of.get_color() for of in ax.get_legend().legend_handles), strict=True))
    assert colors["2: truth, found"] != colors["switch of identity"]


@pytest.mark.parametrize("name", ["gallery", "patches", "sequence", "strip"])
def test_panels_of_further_calls_have_other_colours(name: str) -> None:
    given = of(name)
    panels = given.draw(name)
    before = colors_of(panels)
    given.draw(name, ax=panels)
    assert len(colors_of(panels) - before) == 1
    assert [text for text in legend_texts(panels) if text.startswith("2: ")]


@pytest.mark.parametrize("name", ["recall_map", "confusion"])
def test_a_map_has_the_colour_of_its_own_name(name: str) -> None:
    ax = of(name).draw(name, label="b", color={"a": "red", "b": "blue"})
    assert to_hex((ax.images or ax.collections)[0].cmap(1.0)) == to_hex("blue")
    with refused(("plots: color has no entry for c",)):
        of(name).draw(name, label="c", color={"a": "red"})


def test_lines_of_a_submission_have_its_colour() -> None:
    both = dict(zip(("eager", "cautious"), of("sweep_curves").given, strict=True))
    left, _ = sf.plots.sweep_curves(both, color={"eager": "teal", "cautious": "crimson"})
    colors = {str(line.get_label()).partition(",")[0]: line.get_color() for line in left.lines}
    assert (colors["eager"], colors["cautious"]) == ("teal", "crimson")


def test_options_have_an_effect() -> None:
    layers = sf.plots.gospa(matched(assignment="least"), hatch="*", edgecolor="red").collections
    assert {layer.get_hatch() for layer in layers} == {"*"}
    assert {to_hex(color) for layer in layers for color in layer.get_edgecolor()} == {to_hex("red")}
    filled = sf.plots.gospa(matched(assignment="least"), facecolor="red").collections
    assert {to_hex(color) for layer in filled for color in layer.get_facecolor()} == {to_hex("red")}
    ax = sf.plots.residuals(matched(), marker="x")
    assert ax.collections[0].get_linewidths()[0] > 0
    for name in ("recall_map", "confusion"):
        ax = of(name).draw(name, norm=PowerNorm(0.5))
        assert isinstance((ax.images or ax.collections)[0].norm, PowerNorm)
        of(name).draw(name, vmax=0.5)
    for name in ("error_costs", "distances", "protocols"):
        with refused(("plots: height of bars", "leave it out")):
            of(name).draw(name, height=0.3)


def test_lines_as_dark_as_text_are_light_on_dark_paper() -> None:
    with plt.style.context("dark_background"):
        ax = sf.plots.gospa(matched(assignment="least"))
        assert {to_hex(line.get_color()) for line in ax.lines} == {"#ffffff"}
        mean = [line for line in sf.plots.distances(matched()).lines if str(line.get_label()).startswith("mean")]
        assert [to_hex(line.get_color()) for line in mean] == ["#ffffff"]


def titles_of(chart: Any) -> list[str]:
    """The titles of a chart, or of those beside each other."""
    return [of["title"].replace("\u200b", "") for of in chart.get("hconcat", [chart])]


@pytest.mark.parametrize("name", sorted(sf.charts.__all__))
def test_plots_and_charts_have_the_same_titles(name: str) -> None:
    titles = [ax.get_title().replace("\n", ": ") for ax in np.ravel(of(name).draw(name))]
    told = titles_of(getattr(sf.charts, name)(of(name).given[0]).to_dict())
    counted = r"(?<=of )[\d,]+ (?=true positives)|, [\d,]+ truths$"  # which charts do not tell
    assert [re.sub(counted, "", title) for title in titles] == told


def test_titles_have_no_units() -> None:
    found = sf.intervals(matched(), by="frame", metrics=["mse"])
    assert sf.plots.metric_by_slice(found).get_title() == "Mse by slice, with intervals"
    assert sf.plots.metric_by_slice(found).get_xlabel() == "mse, px²"


@pytest.mark.parametrize("name", OF_PANELS)
def test_plots_of_panels_still_take_a_figure_with_a_warning(name: str) -> None:
    figure = plt.figure(figsize=(16, 12))
    with pytest.warns(DeprecationWarning, match=rf"{name}\(\) takes ax= in place of figure="):
        answer = of(name).draw(name, figure=figure)
    assert plt.get_fignums() == [figure.number]
    assert {ax.figure for ax in answer} == {figure}
    drawn(figure)


@pytest.mark.parametrize("name", OF_PANELS)
def test_no_figure_is_a_new_one_and_something_else_is_refused(name: str) -> None:
    with pytest.warns(DeprecationWarning, match="figure="):
        assert of(name).draw(name, figure=None)[0].figure.number == 1
    with pytest.warns(DeprecationWarning, match="figure="), pytest.raises(sf.InputError, match="ax is 7"):
        of(name).draw(name, figure=7)
