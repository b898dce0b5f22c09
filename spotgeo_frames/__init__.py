"""Evaluates detectors and trackers: truth and predictions in as tables, one match table out, every number from it."""

from . import display
from .bias import bias
from .comparison import Comparison, compare
from .diagnosis import diagnose, error_costs
from .errors import InputError
from .matching import match, match_frames
from .objects_in_time import object_summary
from .pose_preprocessing import read_posetrack
from .poses import PoseResult, pose
from .preprocessing import read_motchallenge
from .readers.coco import read_coco
from .readers.motchallenge import write_motchallenge
from .readers.objects import read_objects
from .readers.spotgeo import read_spotgeo, validate_spotgeo, write_spotgeo
from .reporting import report
from .scale import repartition_by_sequence, score_dataset, track_dataset
from .slices import worst_slices
from .summary import leaderboard, summarize
from .suspicions import check
from .sweeping import Sweep, sweep
from .tables import Annotations
from .tracking import TrackResult, track
from .uncertainty import intervals
from .version import __version__

display.register()

__all__ = [
    "Annotations",
    "Comparison",
    "InputError",
    "PoseResult",
    "Sweep",
    "TrackResult",
    "__version__",
    "bias",
    "check",
    "compare",
    "diagnose",
    "error_costs",
    "intervals",
    "leaderboard",
    "match",
    "match_frames",
    "object_summary",
    "pose",
    "read_coco",
    "read_motchallenge",
    "read_objects",
    "read_posetrack",
    "read_spotgeo",
    "repartition_by_sequence",
    "report",
    "score_dataset",
    "summarize",
    "sweep",
    "track",
    "track_dataset",
    "validate_spotgeo",
    "worst_slices",
    "write_motchallenge",
    "write_spotgeo",
]
