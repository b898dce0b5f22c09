"""The commands in the order in which the help lists them: what each does, and which arguments it takes.

Nothing that does the work is imported here, so that the help is there at once and a command pays for no other.
"""

from pathlib import Path

from .option_kinds import Command, argument, count, flag, given, numbers, path, thresholds, word, words
from .shared_options import (
    BENCHMARK,
    BY,
    BY_HELP,
    COLUMNS,
    DATASET,
    EXCLUDE,
    FILE,
    FILES,
    FOLDERS,
    FRAMES,
    FRAMES_ADDRESS,
    IMAGES,
    INSTEAD_OF_RULE,
    INSTEAD_OF_TRACKS,
    JSON,
    LABELLED,
    MATCHING,
    OUT,
    OUT_ADDRESS,
    PROTOCOL,
    RULE,
    RULE_OF_NUMBERS,
    SUBMISSION,
    TRUTH,
    TRUTH_ADDRESS,
    VIDEOS,
)
from .submissions import submission

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
        *MATCHING,
        EXCLUDE,
        FRAMES_ADDRESS,
        *VIDEOS,
        JSON,
        OUT_ADDRESS,
        *DATASET,
    ),
    instead=INSTEAD_OF_TRACKS,
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
        given("submissions", f"Two or more {FILES}", "SUBMISSION SUBMISSION...", nargs="+"),
        *RULE_OF_NUMBERS,
        word("--metrics", "The metrics to compare, such as f1,recall or AP,AP50"),
        PROTOCOL,
        argument("--by", f"{BY_HELP}; of tracks and poses by condition, as track has it", metavar="COLUMN[:BINS]"),
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
        argument("truth", f"{FILE}, {FOLDERS}", metavar="TRUTH", type=Path),
        given("submission", f"{FILE}, {FOLDERS}", "SUBMISSION"),
        argument("--baseline", "The submission that --margin compares with", metavar="SUBMISSION", type=submission),
        argument(
            "--min", "The least value of a metric, such as f1=0.9 or AP=0.4; may be repeated", dest="least", **_CHECK
        ),
        argument("--max", "The greatest value of a metric, such as mse=40; may be repeated", dest="most", **_CHECK),
        argument("--margin", "How much worse than --baseline it may be, as f1=0.01; may be repeated", **_CHECK),
        flag("--always-valid", "Hold --margin at every look", dest="always_valid"),
        PROTOCOL,
        *RULE_OF_NUMBERS,
        EXCLUDE,
        path("--markdown", "Also write the checks into this file, as Markdown for a pull request"),
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
    "Writes an HTML page to send to people: metrics, suspected mistakes, kinds of error, slices, and the frames; or "
    "Markdown for a pull request.",
    (
        TRUTH,
        given("submissions", f"One or more {FILES}", "SUBMISSION...", nargs="+"),
        path("--out", "The page to write, such as report.html; report.md is Markdown", required=True),
        BY,
        *RULE,
        EXCLUDE,
        FRAMES,
        IMAGES,
        path("--tables", "Folder for the tables behind the page, as Parquet"),
        argument(
            "--sections",
            "Only these sections, in this order: suspicions, numbers, comparison, changes, precision, tracks, "
            "hota, conditions, classes, errors, identities, places, thresholds, slices, frames, metrics",
            metavar="NAME,NAME",
            type=words,
        ),
        word("--title", "A title above the first sentence"),
        path("--note", "A file of Markdown that the page shows below its first screen"),
        word("--format", "html, or md: Markdown for a pull request, with two pictures beside it", dest="format"),
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
        LABELLED,
        *COLUMNS,
        path("--categories", "Parquet or CSV with the column category, and frequency (r, c, f) or parent"),
        *VIDEOS,
        JSON,
        OUT,
    ),
    "The numbers are those of pycocotools: at most 100 detections an image and class (20 poses), ten thresholds from "
    "0.50 to 0.95, 101 recall points. --protocol computes them as other benchmarks do, and the last line says which "
    "official number it is. A warning counts the detections that are left out. A dash (null in JSON) stands "
    "where pycocotools has -1. The JSON also has AP by category.",
    INSTEAD_OF_RULE,
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
        *MATCHING,
        argument("--tracks", "Identities count; they always do here", action="store_true", default=True),
        BENCHMARK,
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
        *VIDEOS,
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
    "poses",
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
        *VIDEOS,
        flag("--json", "Print JSON for programs, with joints in the names and order of each kit", dest="as_json"),
        OUT,
    ),
)

SHELLS = ("bash", "zsh", "fish")
COMPLETION = Command(
    "completion",
    "completion",
    "Prints the script by which a shell completes commands, options, their values and files.",
    (argument("shell", "The shell that the script is for", metavar="|".join(SHELLS), choices=SHELLS),),
    'For this session: eval "$(spotgeo-frames completion bash)", or the same with zsh; in fish, spotgeo-frames '
    "completion fish | source. For every session, put that line into ~/.bashrc, into ~/.zshrc after compinit, or into "
    "~/.config/fish/config.fish.",
)

COMMANDS = {
    command.function: command
    for command in (
        VALIDATE,
        SCORE,
        REPARTITION,
        COMPARE,
        GATE,
        REPORT,
        CHECK,
        SWEEP,
        DIAGNOSE,
        AP,
        TRACK,
        POSE,
        COMPLETION,
    )
}
