"""The MOT benchmarks, and which classes of the truth distract from the pedestrians that each evaluates.

This module imports nothing, because the help of the command line lists the benchmarks.
"""

DISTRACTORS = ["person_on_vehicle", "static_person", "distractor", "reflection"]
BENCHMARKS = {
    "MOT15": [],
    "MOT16": DISTRACTORS,
    "MOT17": DISTRACTORS,
    "MOT20": [*DISTRACTORS, "non_mot_vehicle"],
    "DanceTrack": DISTRACTORS,
}
