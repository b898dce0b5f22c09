"""The commands in the order in which the help lists them: what each does, and which arguments it takes.

Nothing that does the work is imported here, so that the help is there at once and a command pays for no other.
"""

from pathlib import Path

from ..formats import BENCHMARKS
from .option_kinds import Command, argument, count, flag, given, number, numbers, path, thresholds, word
from .submissions import submission

_FILE = (
    "Competition JSON (.json, .gz, .zip), Parquet (file or folder), CSV, or a format that read() knows, such as CVAT"
)
_FOLDERS = "or folders of MOTChallenge or PoseTrack, which are evaluated as tracks and as poses"
_FILES = f"files of any kind that score accepts, {_FOLDERS}"
_FRAMES = "Parquet or CSV with the columns sequence and frame: lists all frames, also empty ones"
TRUTH = argument("truth", _FILE, metavar="TRUTH", type=Path)
SUBMISSION = given("submission", _FILE, "SUBMISSION")
FRAMES = path("--frames", _FRAMES)
# These also accept a URI such as s3://bucket/folder, which a Path would damage.
TRUTH_ADDRESS = argument("truth", _FILE, metavar="TRUTH")
FRAMES_ADDRESS = word("--frames", _FRAMES)
_MATCHING = (
    argument("--tau", "Largest distance of a true positive (px); 10 by default", metavar="<float>", type=number),
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
    flag("--labelled", "Leave out predictions that lie in no frame of the truth"),
    word("--columns", "Which column of a table is which, such as frame=image_id,x=xmin; common names are found"),
    word(
        "--box-format",
        "How the columns that --columns names as x, y, w, h are meant: xywh, xyxy or cxcywh",
        dest="box_format",
    ),
)
_BENCHMARK = word(
    "--benchmark", f"The benchmark whose rules apply to MOTChallenge folders: {', '.join(BENCHMARKS)} [default: MOT17]"
)
RULE = (
    *_MATCHING,
    flag("--tracks", "Identities count: evaluate as track does, and joints as pose does"),
    _BENCHMARK,
)
PROTOCOL = argument(
    "--protocol",
    "Whose rules average precision follows; coco by default",
    metavar="coco|voc2007|voc2010|lvis|ultralytics|ultralytics_cut|nuscenes|open_images|kitti",
)
_BY = "Slice by a column of the match table: its values, 2 to 1000 quantile bins, or edges (x:0,5,inf); A*B crosses"
BY = argument("--by", f"{_BY}; may be repeated", metavar="COLUMN[:BINS]", action="append", default=[])
EXCLUDE = word("--exclude", "Sequences to leave out, such as 5,9-12; a warning names unknown ones", default="")
JSON = flag("--json", "Print JSON for programs", dest="as_json")
_OUT = "Folder for the tables behind the numbers, as Parquet, and for the JSON"
OUT = path("--out", _OUT)
# Folders on any file system; a Path would damage a URI such as s3://bucket/folder.
OUT_ADDRESS = word("--out", _OUT)
DATASET = (
    flag("--dataset", "Evaluate Parquet of any size in parts, on all cores; rows may be in any order"),
    argument("--scheduler", "Evaluate a --dataset on the Dask cluster at this address", metavar="ADDRESS"),
)

VALIDATE = Command(
    "findings",
    "validate",
    "Lists every problem of a submission: types, bounds, counts, missing and extra frames.",
    (
        SUBMISSION,
        path("--truth", "The truth, whose frames the submission has to cover"),
        word("--sequences", "The sequences that the submission has to cover, such as 1-5120"),
    ),
)

SCORE = Command(
    "scores",
    "score",
    "Scores a submission by the metric document and by the competition's server, for all data and for slices.",
    (
        TRUTH_ADDRESS,
        SUBMISSION,
        BY,
        *_MATCHING,
        EXCLUDE,
        FRAMES_ADDRESS,
        JSON,
        OUT_ADDRESS,
        *DATASET,
    ),
)

REPARTITION = Command(
    "datasets",
    "repartition",
    "Writes a copy of a Parquet dataset that is sorted by sequence, which --dataset evaluates fastest.",
    (
        argument("dataset", "Parquet file, or a folder of them, in any order", metavar="DATASET"),
        argument("out", "A folder that does not exist yet", metavar="OUT"),
        argument("--scheduler", "Sort on the Dask cluster at this address", metavar="ADDRESS"),
    ),
)

COMPARE = Command(
    "comparisons",
    "compare",
    "Compares submissions: which is better, by how much, and whether the difference is more than chance.",
    (
        TRUTH,
        given("submissions", f"Two or more {_FILES}", "SUBMISSION SUBMISSION...", nargs="+"),
        *RULE,
        word("--metrics", "The metrics to compare, such as f1,recall or AP,AP50"),
        PROTOCOL,
        argument("--by", f"{_BY}; of tracks and poses by condition, as track has it", metavar="COLUMN[:BINS]"),
        EXCLUDE,
        JSON,
        OUT,
    ),
)

_CHECK = {"metavar": "METRIC=NUMBER", "action": "append", "default": []}
GATE = Command(
    "comparisons",
    "gate",
    "Checks a submission against limits and a baseline; the exit status is 3 where a check is not passed.",
    (
        argument("truth", f"{_FILE}, {_FOLDERS}", metavar="TRUTH", type=Path),
        given("submission", f"{_FILE}, {_FOLDERS}", "SUBMISSION"),
        argument("--baseline", "The submission that --margin compares with", metavar="SUBMISSION", type=submission),
        argument(
            "--min", "The least value of a metric, such as f1=0.9 or AP=0.4; may be repeated", dest="least", **_CHECK
        ),
        argument("--max", "The greatest value of a metric, such as mse=40; may be repeated", dest="most", **_CHECK),
        argument("--margin", "How much worse than --baseline it may be, as f1=0.01; may be repeated", **_CHECK),
        flag("--always-valid", "Hold --margin at every look", dest="always_valid"),
        PROTOCOL,
        *RULE,
        EXCLUDE,
        JSON,
    ),
    "--min and --max are about the metric as it is; its interval is printed beside it. --margin is passed where the "
    "95% interval of the difference, as `compare` gives it, shows the metric to be no worse than the baseline's by "
    "more than the number; this needs six sequences or more. A bound that is looked at each night is wrong on some "
    "night more often than that; with --always-valid it is not, and about 1.6 times as far from the estimate. Shares "
    "such as F1 are from 0 to 1.",
)

REPORT = Command(
    "pages",
    "report",
    "Writes an HTML page to send to people: metrics, suspected mistakes, kinds of error, slices, and the frames.",
    (
        TRUTH,
        given("submissions", f"One or more {_FILES}", "SUBMISSION...", nargs="+"),
        path("--out", "The page to write, such as report.html", required=True),
        BY,
        *RULE,
        EXCLUDE,
        FRAMES,
        path(
            "--images",
            "Folder of pictures to draw behind the frames: SEQUENCE/FRAME.png or .jpg, SEQUENCE/img1/000001.jpg, or as "
            "a column file_name says",
        ),
        path("--tables", "Folder for the tables behind the page, as Parquet"),
    ),
)

CHECK = Command(
    "findings",
    "check",
    "Searches for common mistakes: swapped or flipped axes, wrong numbering or names, scaled or shifted coordinates.",
    (TRUTH, SUBMISSION, *RULE, JSON),
)

SWEEP = Command(
    "findings",
    "sweep",
    "Finds the best threshold of the score: the metrics at every threshold, and average precision.",
    (TRUTH, SUBMISSION, *RULE, JSON, OUT),
    "Predictions need a column score. At each threshold those with a lower score are left out, and the others are "
    "matched anew.",
)

DIAGNOSE = Command(
    "findings",
    "diagnose",
    "Says of which kind the errors are, and what each kind costs.",
    (TRUTH, SUBMISSION, *RULE, JSON, OUT),
    "Misses are taken (a prediction is near, but matched with another truth), mislocated (a false alarm lies a little "
    "too far off) or lost; false alarms are duplicates (a truth is near, but matched with another prediction), "
    "mislocated, background, or in a frame without truth. Both are confused where the other one has another category.",
)

AP = Command(
    "findings",
    "ap",
    "Scores detections by average precision (AP): COCO's, or by the protocol of another benchmark.",
    (
        argument(
            "truth",
            "COCO's annotations (.json, .gz, .zip), or objects of any kind that score accepts",
            metavar="TRUTH",
            type=Path,
        ),
        argument("results", "COCO's results, or objects with a score", metavar="RESULTS", type=submission),
        flag("--keypoints", "Poses by OKS instead of boxes by IoU"),
        flag("--masks", "Masks by IoU instead of boxes"),
        PROTOCOL,
        argument(
            "--tau",
            "Match within this distance, or these, such as 0.5,1,2,4; points need it",
            metavar="<float>[,...]",
            type=numbers,
        ),
        argument(
            "--thresholds",
            "Other similarities than the protocol's, such as 0.5,0.75, or by class, such as car=0.7,0.5",
            metavar="<float>[,...]",
            type=thresholds,
        ),
        argument(
            "--max-detections",
            "The most detections of an image and class that count; 100 by default, 20 of poses",
            dest="max_detections",
            metavar="<int>",
            type=count,
        ),
        word("--metrics", "Further numbers: oLRP, best_f1, precision_at_recall_0.9, recall_at_precision_0.5"),
        BY,
        FRAMES,
        path("--categories", "Parquet or CSV with the column category, and frequency (r, c, f) or parent"),
        JSON,
        OUT,
    ),
    "The numbers are those of pycocotools: at most 100 detections an image and class (20 poses), ten thresholds from "
    "0.50 to 0.95, 101 recall points. --protocol computes them as other benchmarks do, and the last line says which "
    "official number it is. A warning counts the detections that are left out. A dash (null in JSON) stands "
    "where pycocotools has -1. The JSON also has AP by category.",
)

TRACK = Command(
    "tracks",
    "track",
    "Scores the tracks of tables or MOTChallenge folders by HOTA, CLEAR (MOTA) and Identity (IDF1), by sequence and "
    "combined.",
    (
        argument(
            "truth",
            "MOTChallenge folder of SEQUENCE/gt/gt.txt (and seqinfo.ini) or of SEQUENCE.txt, or a .zip of the latter; "
            "or a file of objects that score accepts",
            metavar="TRUTH",
        ),
        given("tracker", "The tracker's folder of SEQUENCE.txt, a .zip of one, or its file", "TRACKER"),
        *_MATCHING,
        argument("--tracks", "Identities count; they always do here", action="store_true", default=True),
        _BENCHMARK,
        word(
            "--identity",
            "The column that names an object through its sequence [default: %(default)s]",
            default="object",
        ),
        word("--metrics", "Further metrics, which take extra time: siap, vace, ideucl, ospa2_10"),
        argument(
            "--by",
            "Score each value of truth_COLUMN, frame_COLUMN or sequence_COLUMN by itself, all other truths being "
            "distractors, as truth_size, truth_h:0,50,inf or truth_size*frame_light; may be repeated",
            metavar="COLUMN[:BINS]",
            action="append",
            default=[],
        ),
        JSON,
        OUT_ADDRESS,
        *DATASET,
    ),
    "Each line of a file of MOTChallenge has frame, identity, left, top, width and height. In a tracker's file the "
    "score follows; in the truth's file the mark, the class and the visibility follow. Frames are numbered from 1, and "
    "boxes are in pixels. A folder of PoseTrack is evaluated as pose does. --epsilon and --threshold do not apply to "
    "tracks. With --dataset only the combined numbers are printed; --json and --out have those of each sequence.",
)

POSE = Command(
    "tracks",
    "pose",
    "Scores the poses of a PoseTrack folder joint by joint, by keypoint HOTA and by poseval's MOTA and AP.",
    (
        argument("truth", "Folder of SEQUENCE.json (PoseTrack), or a .zip of one", metavar="TRUTH_DIR", type=Path),
        argument(
            "predictions",
            "Folder of SEQUENCE.json by the tracker, or a .zip of one",
            metavar="PREDICTION_DIR",
            type=submission,
        ),
        flag("--json", "Print JSON for programs, with joints in the names and order of each kit", dest="as_json"),
        OUT,
    ),
)

COMMANDS = {
    command.function: command
    for command in (VALIDATE, SCORE, REPARTITION, COMPARE, GATE, REPORT, CHECK, SWEEP, DIAGNOSE, AP, TRACK, POSE)
}
