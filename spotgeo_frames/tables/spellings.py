"""What columns are called elsewhere: the usual spellings of their names, and how boxes of such names are meant."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Literal

from .schema import OBJECT_COLUMNS

# How the numbers of a box are meant.
BoxFormat = Literal["xywh", "xyxy", "cxcywh", "cxcywha", "corners"]

# What else a column is called, as `plain` has names. Those that stand first are taken where several are there.
SPELLINGS: dict[str, tuple[str, ...]] = {
    "sequence": ("sequenceid", "sequencename", "seq", "seqid", "seqname", "video", "videoid", "videoname", "scene"),
    "frame": ("frameid", "frameindex", "framenumber", "frameidx", "imageid", "imgid", "image", "imageindex"),
    "object": (
        "objectid",
        "objid",
        "trackid",
        "trackerid",
        "instanceid",
        "annotationid",
        "annid",
        "detectionid",
        "particle",
        "id",
    ),
    "joint": ("jointid", "jointname", "keypoint", "keypointid", "keypointname"),
    "score": ("scores", "confidence", "confidences", "conf", "probability", "prob", "certainty"),
    "category": (
        *("categoryid", "categoryname", "categories", "cat", "catid", "catname", "label", "labels", "labelid"),
        *(
            "labelname",
            "class",
            "classes",
            "classid",
            "classids",
            "classname",
            "cls",
            "objectclass",
            "objectcategory",
            "type",
        ),
    ),
    "ra": ("radeg", "raj2000", "alphaj2000", "rightascension"),
    "dec": ("decdeg", "dej2000", "decj2000", "deltaj2000", "declination"),
    "crowd": ("iscrowd", "crowds"),
    "visibility": ("visible", "vis"),
}

# The columns of a corner, a middle and a size, as `plain` has names.
TOP_LEFT = [("x", "y"), ("left", "top"), ("xmin", "ymin"), ("minx", "miny"), ("x1", "y1"), ("x0", "y0")]
TOP_LEFT += [("bbleft", "bbtop"), ("bboxleft", "bboxtop"), ("bboxx", "bboxy"), ("xtl", "ytl")]
MIDDLES = [("cx", "cy"), ("xc", "yc"), ("xcenter", "ycenter"), ("xcentre", "ycentre")]
MIDDLES += [("centerx", "centery"), ("centrex", "centrey")]
WIDTH_HEIGHT = [("w", "h"), ("width", "height"), ("bw", "bh"), ("bbwidth", "bbheight")]
WIDTH_HEIGHT += [("bboxw", "bboxh"), ("bboxwidth", "bboxheight")]

# What angles in degrees are called, and those that are not known to be, as `plain` has names.
DEGREES = ("angle", "angledeg")

# Corners that are opposite each other, and what names of all columns of a box may begin with, as `plain` has names.
OPPOSITE = [("xmin", "ymin", "xmax", "ymax"), ("minx", "miny", "maxx", "maxy"), ("x1", "y1", "x2", "y2")]
OPPOSITE += [("x0", "y0", "x1", "y1"), ("left", "top", "right", "bottom"), ("xtl", "ytl", "xbr", "ybr")]
OF_BOX = ("bbox", "box", "box2d", "bndbox", "boundingbox", "bb", "rect")

# The columns of a box, as `plain` has names, with the format that they are in. The first that are there are meant.
BOXES: list[tuple[BoxFormat, tuple[str, ...]]] = [
    # Four corners first, since two of them are called like opposite ones.
    *(("corners", tuple(f"{axis}{n}" for n in numbers for axis in "xy")) for numbers in ("1234", "0123")),
    *(("cxcywha", (*middle, *size, angle)) for middle in MIDDLES for size in WIDTH_HEIGHT for angle in DEGREES),
    ("xyxy", ("xmin", "ymin", "xmax", "ymax")),
    ("xyxy", ("minx", "miny", "maxx", "maxy")),
    ("xyxy", ("x1", "y1", "x2", "y2")),
    ("xyxy", ("x0", "y0", "x1", "y1")),
    ("xyxy", ("x", "y", "x2", "y2")),
    ("xyxy", ("left", "top", "right", "bottom")),
    ("xyxy", ("startx", "starty", "endx", "endy")),
    ("xyxy", ("topleftx", "toplefty", "bottomrightx", "bottomrighty")),
    ("xyxy", ("xtopleft", "ytopleft", "xbottomright", "ybottomright")),
    *(("xyxy", tuple(f"{of}{name}" for name in names)) for of in OF_BOX for names in OPPOSITE),
    # Of one family first: beside bb_left and bb_width, x may be something else.
    *(
        ("xywh", tuple(f"{of}{name}" for name in (*corner, *size)))
        for of in OF_BOX
        for corner in (("left", "top"), ("x", "y"), ("xmin", "ymin"))
        for size in (("width", "height"), ("w", "h"))
    ),
    ("xyxy", ("xtl", "ytl", "xbr", "ybr")),
    *(("xywh", (*corner, *size)) for corner in TOP_LEFT for size in WIDTH_HEIGHT),
    *(("cxcywh", (*middle, *size)) for middle in MIDDLES for size in WIDTH_HEIGHT),
]

# What points are called, as `plain` has names.
POINTS = [("x", "y"), ("xpx", "ypx"), *MIDDLES, ("xcentroid", "ycentroid"), ("posx", "posy"), ("px", "py")]
POINTS += [("positionx", "positiony"), ("ximage", "yimage"), ("centroid1", "centroid0")]

# Columns that tell of another geometry than points, as `plain` has names.
SIZES = {name for pair in WIDTH_HEIGHT for name in pair}
CORNERS = {"xmin", "ymin", "xmax", "ymax", "minx", "miny", "maxx", "maxy", "x0", "y0", "x1", "y1", "x2", "y2"}
CORNERS |= {"xtl", "ytl", "xbr", "ybr"}
EDGES = {"left", "top", "right", "bottom"}  # a single one may be anything
LISTS = {
    "bbox",
    "bboxes",
    "box",
    "boxes",
    "xyxy",
    "xywh",
    "cxcywh",
    "bndbox",
    "boundingbox",
    "tlwh",
    "ltwh",
    "tlbr",
    "ltrb",
    "xyxyn",
    "xywhn",
    "xywhr",
    "xyxyxyxy",
}

# The format of lists whose name tells it.
LIST_FORMATS: dict[str, BoxFormat] = {"xyxy": "xyxy", "tlbr": "xyxy", "ltrb": "xyxy", "cxcywh": "cxcywh"}
LIST_FORMATS |= {"tlwh": "xywh", "ltwh": "xywh"}  # xywh may be that of a middle
LIST_FORMATS |= {"xyxyn": "xyxy", "xywhn": "cxcywh", "xyxyxyxy": "corners"}  # those of Ultralytics
RADIANS = {"xywhr"}
ANGLES = {*DEGREES, "anglerad"}
TURNED = ANGLES | {"theta", "rotation", "rot", "yaw"}  # of boxes; points may carry such columns
SKY = {"ra", "radeg", "raj2000", "rightascension", "dec", "decdeg", "dej2000", "decj2000", "declination"}
SKY |= {"lon", "lat", "lng", "longitude", "latitude"}
MASKS = {"mask", "masks", "segmentation", "segmentations", "rle", "polygon", "polygons"}
# What the width and height of the images of masks are called.
IMAGE_SIZES = [("imagewidth", "imageheight"), ("imgwidth", "imgheight"), ("imagew", "imageh"), ("width", "height")]
IMAGE_SIZES += [("maskw", "maskh")]
JOINTS = {"keypoints", "landmarks"}

# What the files of images are called, as `plain` has names.
NAMES_OF_IMAGES = {"filename", "filepath", "file", "imagename", "imagepath", "imagefile", "imgname", "imgpath", "path"}

# Parts of names that tell of places, and of little else.
OF_PLACES = re.compile(
    r"box|^rect|coord|corner|centroid|keypoint|polygon|[xy](min|max)|(min|max)[xy]|^[xy]\d*$|^(start|end|top|bottom)\w*[xy]$"
)

# Columns that play a part in an evaluation, or whose names may stand for one that does, as `plain` has names.
PARTS = {
    *map(str, OBJECT_COLUMNS),
    "ignore",
    "filename",
    "z",
    *SPELLINGS,
    *(name for of in SPELLINGS.values() for name in of),
}
PARTS |= {name for names in (*(box for _, box in BOXES), *POINTS) for name in names}
PARTS |= SIZES | CORNERS | EDGES | LISTS | TURNED | SKY | MASKS | JOINTS | NAMES_OF_IMAGES

# What stands between the words of a name, and what becomes of it.
BETWEEN_WORDS = str.maketrans("", "", "_-. ")


def plain(name: Hashable) -> str:
    """A name in lower case and without what stands between its words.

    >>> plain("X_min"), plain("bbox.x1")
    ('xmin', 'bboxx1')
    """
    return str(name).casefold().translate(BETWEEN_WORDS)
