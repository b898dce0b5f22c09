"""The arguments and options that several commands take, and the words of help that they share."""

from pathlib import Path

from ..formats import BENCHMARKS
from .option_kinds import argument, flag, given, number, numbers, path, sequence_and_file, word

FILE = "Competition JSON (.json, .gz, .zip), Parquet (file or folder), CSV, or a format that read() knows, such as CVAT"
FOLDERS = "or folders of MOTChallenge or PoseTrack, which are evaluated as tracks and as poses"
FILES = f"files of any kind that score accepts, {FOLDERS}"
FRAMES_HELP = "Parquet or CSV with the columns sequence and frame: lists all frames, also empty ones"
TRUTH = argument("truth", FILE, metavar="TRUTH", type=Path)
SUBMISSION = given("submission", FILE, "SUBMISSION")
FRAMES = path("--frames", FRAMES_HELP)
# These also accept a URI such as s3://bucket/folder, which a Path would damage.
TRUTH_ADDRESS = argument("truth", FILE, metavar="TRUTH")
FRAMES_ADDRESS = word("--frames", FRAMES_HELP)
COLUMNS = (
    word("--columns", "Which column of a table is which, such as frame=image_id,x=xmin; common names are found"),
    word(
        "--box-format",
        "How the numbers of boxes are meant, those that --columns names as x, y, w, h or box, or that are found: xywh, "
        "xyxy, cxcywh, cxcywha or corners",
        dest="box_format",
    ),
)
LABELLED = flag("--labelled", "Leave out predictions that lie in no frame of the truth")
# How pairs match, besides the distance within which they do.
_MATCHING = (
    argument(
        "--epsilon",
        "Distance up to which the error is 0 (px), below tau; 3 by default, 0 for a tau of 3 or less",
        metavar="<float>",
        type=number,
    ),
    argument(
        "--similarity",
        "Match by similarity; boxes use iou by default. With iou and oks, JSON is COCO's annotations and results",
        metavar="iou|oks|point|boundary_iou",
    ),
    argument(
        "--threshold",
        "Least similarity of a true positive; 0.5 by default",
        metavar="<float>",
        type=number,
    ),
    argument(
        "--assignment",
        "How pairs are chosen: as many as possible (the default), the least sum as in GOSPA and OSPA, or by score",
        metavar="most|least|score",
    ),
    argument(
        "--power",
        "The power of distances in the sum of --assignment least, 1 or more; 2 by default",
        metavar="<float>",
        type=number,
    ),
    flag("--masks", "Read COCO's files for their masks, not boxes"),
    LABELLED,
    *COLUMNS,
)
TAU_HELP = "Largest distance of a true positive (px); 10 by default"
MATCHING = (argument("--tau", TAU_HELP, metavar="<float>", type=number), *_MATCHING)
BENCHMARK = word(
    "--benchmark",
    f"The benchmark whose files these are and whose rules apply: {', '.join(BENCHMARKS)} [default for folders of "
    "MOTChallenge: MOT17]",
)
_RULE = (flag("--tracks", "Identities count: evaluate as track does, and joints as pose does"), BENCHMARK)
RULE = (*MATCHING, *_RULE)
# The rule where numbers of average precision may be asked for, of which several distances are possible.
RULE_OF_NUMBERS = (
    argument("--tau", f"{TAU_HELP}; several for AP, such as 5,10", metavar="<float>[,...]", type=numbers),
    *_MATCHING,
    *_RULE,
)
# What commands without these options have in their place.
INSTEAD_OF_TRACKS = {"--tracks": "give the same files to track, which evaluates identities"}
INSTEAD_OF_RULE = INSTEAD_OF_TRACKS | {
    "--threshold": "--thresholds has one or several, such as --thresholds 0.5",
    "--assignment": "in average precision, pairs are chosen as --protocol has it",
    "--similarity": "boxes are compared by IoU, masks with --masks, poses with --keypoints, and points with --tau",
    "--epsilon": "average precision counts all distances up to --tau alike",
}
PROTOCOL = argument(
    "--protocol",
    "Whose rules average precision follows; coco by default",
    metavar="coco|voc2007|voc2010|lvis|ultralytics|ultralytics_cut|nuscenes|open_images|kitti",
)
BY_HELP = "Slice by a column of the match table: its values, 2 to 1000 quantile bins, or edges (x:0,5,inf); A*B crosses"
BY = argument("--by", f"{BY_HELP}; may be repeated", metavar="COLUMN[:BINS]", action="append", default=[])
EXCLUDE = word("--exclude", "Sequences to leave out, such as 5,9-12; a warning names unknown ones", default="")
JSON = flag("--json", "Print JSON for programs", dest="as_json")
OUT_HELP = "Folder for the tables behind the numbers, as Parquet, and for the JSON"
OUT = path("--out", OUT_HELP)
# Folders on any file system; a Path would damage a URI such as s3://bucket/folder.
OUT_ADDRESS = word("--out", OUT_HELP)
IMAGES = path(
    "--images",
    "Folder of pictures to draw behind the frames: SEQUENCE/FRAME.png or .jpg, SEQUENCE/img1/000001.jpg, or as a "
    "column file_name says",
)
VIDEOS = (
    argument(
        "--video",
        "Write a video of this sequence to this file, which ends in .mp4 or .gif; may be repeated",
        metavar="SEQUENCE FILE",
        type=sequence_and_file,
        action="append",
        default=[],
    ),
    IMAGES,
)
DATASET = (
    flag("--dataset", "Evaluate Parquet of any size in parts, on all cores; rows may be in any order"),
    argument("--scheduler", "Evaluate a --dataset on the Dask cluster at this address", metavar="ADDRESS"),
)
