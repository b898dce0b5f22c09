"""The chart of one frame as a Vega-Lite specification, without data: the page's script fills them in."""

from collections.abc import Mapping

import altair as alt

from ..charts.encodings import Drawing, bounded, tooltips
from ..charts.on_pages import Spec, page_spec

# The kinds of marks, with their shapes and colours.
MARKS = ["found truth", "missed truth", "right prediction", "false prediction"]
MARK_SHAPES = ["circle", "circle", "cross", "M-0.6,-0.6L0.6,0.6M-0.6,0.6L0.6,-0.6"]
MARK_COLORS = ["var(--found)", "var(--missed)", "var(--right)", "var(--false)"]
MARK_COLORS_ON_PICTURES = ["#3ccfa0", "#ff7a52", "#56b4e9", "#f0b429"]

# The dashes of the lines around boxes: those of truths have none.
DASHES = [(MARKS[:2], [1, 0]), (MARKS[2:], [5, 3])]


def frame_chart(
    extent: tuple[float, float, float, float], picture: Mapping[str, float] | None, measure: str, boxed: bool
) -> Spec:
    """The chart of one frame: the page's script fills in `marks`, `links`, `boxes`, `joints` and `picture`.

    `extent` is the left, right, top and bottom (px), `picture` the sides (px) of the pictures behind the frames,
    `measure` the title of the distance or the similarity, and `boxed` says whether there are boxes.
    """
    left, right, top, bottom = extent
    if picture is not None:
        left, right = min(left, picture["x"]), max(right, picture["x2"])
        top, bottom = min(top, picture["y"]), max(bottom, picture["y2"])
    x = alt.X("x:Q", title="x, px", scale=alt.Scale(domain=[left, right], nice=False, zero=False))
    y = alt.Y("y:Q", title="y, px", scale=alt.Scale(domain=[bottom, top], nice=False, zero=False))
    ends = {"x": x, "x2": "x2:Q", "y": y, "y2": "y2:Q"}
    behind = alt.Chart(alt.NamedData("picture")).mark_image(aspect=False, clip=True).encode(url="url:N", **ends)
    ink = "var(--ink)" if picture is None else "white"
    links = alt.Chart(alt.NamedData("links")).mark_rule(color=ink, strokeWidth=1.5, clip=True).encode(**ends)
    colors = alt.Scale(domain=MARKS, range=MARK_COLORS if picture is None else MARK_COLORS_ON_PICTURES)
    color = alt.Color("mark:N", title=None, scale=colors)
    outlines = [
        alt.Chart(alt.NamedData("boxes"))
        .transform_filter(alt.FieldOneOfPredicate(field="mark", oneOf=kinds))
        .mark_rect(filled=False, strokeWidth=1.8, strokeDash=dashes, clip=True)
        .encode(color=color, **ends)
        for kinds, dashes in DASHES
    ]
    # Filled dots would fill the marks of the legend; these are so small that their lines fill them.
    joints = alt.Chart(alt.NamedData("joints")).mark_point(shape="circle", size=8, strokeWidth=3, opacity=1, clip=True)
    joints = joints.encode(x=x, y=y, color=color)
    marks = _marks(x, y, color, measure, size=50 if boxed else 150, rim=picture is not None)  # a box may be small
    zoom = alt.selection_interval(bind="scales", zoom="wheel![event.ctrlKey]")
    chart = alt.layer(behind, links, *outlines, joints, *marks[:-1], marks[-1].add_params(zoom))
    about = "Truths and predictions of one frame; they are listed below"
    return page_spec(Drawing(chart, {}, about, ratio=bounded((bottom - top) / (right - left))))


def _marks(x: alt.X, y: alt.Y, color: alt.Color, measure: str, size: int, rim: bool) -> list[alt.Chart]:
    """The layers of the marks at points, and at the centres of boxes, of a size in square px.

    A dark rim makes marks visible on any picture.
    """
    shape = alt.Shape("mark:N", title=None, scale=alt.Scale(domain=MARKS, range=MARK_SHAPES))
    points = alt.Chart(alt.NamedData("marks")).encode(x=x, y=y, shape=shape)
    marks = points.mark_point(size=size, strokeWidth=2.2, opacity=1, clip=True).encode(
        color=color,
        tooltip=tooltips(
            ("mark:N", "mark", ""),
            ("object:N", "object", ""),
            ("kind:N", "kind of error", ""),
            ("x:Q", "x, px", ".7~g"),
            ("y:Q", "y, px", ".7~g"),
            ("measure:N", measure, ""),
        ),
    )
    dark = points.mark_point(size=size, strokeWidth=5, opacity=0.75, clip=True, color="black")
    return [dark, marks] if rim else [marks]
