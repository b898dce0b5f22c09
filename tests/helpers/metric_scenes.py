"""A scene for every metric, with its value by hand. A new metric joins one of the dicts, or brings a scene."""

from math import sqrt

import numpy as np
import pandas as pd

import spotgeo_frames as sf

from .boxes import boxes
from .scenes import SCENES

# The challenge's worked example: TP at distances 2 and 5, one FN, two FP, with tau = 10 and epsilon = 3.
BY_DISTANCE = {
    "tp": 2,
    "fn": 1,
    "fp": 2,
    "precision": 2 / 4,
    "recall": 2 / 3,
    "f1": 4 / 7,
    "mse": (0 + 25 + 300) / 5,
    "kelvins_mse": (0 + 5 + 300) / 5,
    "det_a": 2 / 5,
    "mean_distance": (2 + 5) / 2,
    "rmse": sqrt((4 + 25) / 2),
    "n_sequences": 1,
    "n_frames": 1,
    "n_truth": 3,
    "n_predicted": 4,
}

# Of the same example by assignment="least": in one frame d² of 4 and 25, one miss and two false alarms at c²/2 = 50.
OF_POINT_SETS = {
    **{"gospa": sqrt(4 + 25 + 50 + 100), "localisation": 4 + 25, "missed": 50, "false": 100},
    "ospa": sqrt((4 + 25 + 2 * 100) / 4),
}

# A box of 10 x 10 and one moved by 2: 80 px² of 120 px² are shared.
BY_SIMILARITY = {"loc_a": 80 / 120}

# A truth of two frames that two tracks share, one frame each: c = 1, t = 2, p = 1.
OF_TRACKS = {
    **{"HOTA": sqrt(1 / 2), "DetA": 1, "AssA": 1 / 2, "DetRe": 1, "DetPr": 1, "AssRe": 1 / 2, "AssPr": 1, "LocA": 1},
    **{"MOTA": 1 - 1 / 2, "MOTP": 1, "MODA": 1, "IDSW": 1, "Frag": 0, "MT": 1, "PT": 0, "ML": 0},
    **{"TP": 2, "FN": 0, "FP": 0, "IDF1": 1 / 2, "IDP": 1 / 2, "IDR": 1 / 2, "IDTP": 1, "IDFN": 1, "IDFP": 1},
    **{"OWTA": sqrt(1 / 2), "HOTA(0)": sqrt(1 / 2), "LocA(0)": 1, "sMOTA": (2 - 1) / 2, "MOTAL": (2 - 0) / 2},
    **{"CLR_F1": 1, "CLR_Re": 1, "CLR_Pr": 1, "FP_per_frame": 0, "MTR": 1, "PTR": 0, "MLR": 0},
    **{"FragA": 1 / 2, "FA-HOTA": sqrt(1 / 2), "FA-RHOTA": sqrt(1 / 2), "HOTALocA(0)": sqrt(1 / 2)},
}

# Of a truth at 0, 3 and 7 that is found at once, 1 px off, and from the second frame on also 5 px off by another track.
# OSPA(2) over windows of two frames: 1, then d = 1 and a track left, twice, at tau = 10.
OF_REQUEST = {
    **{"completeness": 1, "ambiguity": 5 / 3, "spuriousness": 0, "positional_accuracy": (3 * 1 + 2 * 5) / 5},
    **{"longest_track_segment": 1, "rate_of_number_changes": 0, "ATA": 1 / 1.5, "IDEucl": 1},
    # Similarities of 1 - 1/20 each.
    **{"SFDA": (0.95 + 0.95 / 1.5 + 0.95 / 1.5) / 3, "ospa2_2": (1 + (1 + 10) / 2 + (1 + 10) / 2) / 3},
}

# One joint, found in all of three frames, of which poseval leaves out the last in its numbers of tracks.
OF_POSES = {
    **{"RHOTA": 1},
    **{"mota": 100, "motp": 100, "pre": 100, "rec": 100, "ap": 100, "ap_pre": 100, "ap_rec": 100},
    **{"objects": 2, "detections": 2, "misses": 0, "false_positives": 0, "switches": 0},
}

# Two predictions, the surer one right, and two truths: precision 1 up to a recall of 1/2, and none beyond.
OF_CURVES = {"average_precision": 1 / 2}


# Boxes of three sizes, each once found and once 1/8 of its width off: half of them are found at 0.8 and beyond.
OF_AP_AND_AR = {f"AP{area}": (6 + 4 * 51 / 101) / 10 for area in ("", "s", "m", "l")}
OF_AP_AND_AR |= {"AP50": 1, "AP75": 1} | {f"AR{limit}": 0.8 for limit in (1, 10, 100, "s", "m", "l")}

# One person with one joint, which is found.
OF_POSE_RECALL = {"AR": 1, "AR50": 1, "AR75": 1}

# One of two points is found, and the false alarm comes after it; a box of each frequency is found.
OF_FREE_RESPONSE = {"CPM": 1 / 2} | {f"sensitivity_{rate:g}": 1 / 2 for rate in (0.125, 0.25, 0.5, 1, 2, 4, 8)}
OF_FREQUENCIES = {"APr": 1, "APc": 1, "APf": 1, "AR300": 1}


def summaries() -> list[tuple[pd.Series, dict[str, float]]]:
    """What each scene gives, and what it has to give."""
    points = sf.match(*SCENES[0].sides())
    truth, predictions = boxes([(1, 1, 1, 0, 0)]), boxes([(1, 1, 1, 2, 0)])
    tracks = boxes([(1, 1, 1, 0, 0), (1, 2, 1, 0, 0)]), boxes([(1, 1, 1, 0, 0), (1, 2, 2, 0, 0)])
    wanderer = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3], "object": 1, "x": [0.0, 3, 7], "y": 0.0})
    found = pd.concat([wanderer.assign(y=1.0), wanderer[1:].assign(object=2, y=5.0)])
    person = pd.DataFrame({"sequence": 1, "frame": [1, 2, 3], "object": 1, "joint": 0, "x": 5.0, "y": 5.0})
    poses = sf.pose(person.assign(head_size=1.0), person.assign(score=1.0))
    scored = pd.DataFrame({"sequence": 1, "frame": 1, "object": [1, 2], "x": [5.0, 50.0], "y": 5.0})
    swept = sf.sweep(scored, scored.assign(x=[5.0, 90.0], score=[0.9, 0.1]))
    sized = pd.DataFrame({"sequence": range(6), "frame": 1, "object": 1, "x": 0.0, "y": 0.0, "w": [10.0, 40, 200] * 2})
    sized["h"] = sized["w"]
    of_lvis = sized.head(3).assign(sequence=1, object=range(3), x=[0.0, 100, 200], category=[*"abc"])
    frames = pd.DataFrame({"sequence": [1], "frame": 1, "negative_categories": [[]], "not_exhaustive_categories": [[]]})
    lvis = sf.Annotations(of_lvis, frames, None, pd.DataFrame({"category": [*"abc"], "frequency": [*"rcf"]}))
    free = sf.average_precision(scored, scored.assign(x=[5.0, 90.0], score=[0.9, 0.1]), tau=10)
    nose = person[:1].assign(joint="nose", area=2500.0)
    return [
        (sf.summarize(points).iloc[0], BY_DISTANCE),
        (sf.summarize(sf.match(*SCENES[0].sides(), assignment="least")).iloc[0], OF_POINT_SETS),
        (sf.summarize(sf.match(truth, predictions, similarity="iou")).iloc[0], BY_SIMILARITY),
        (sf.track(*tracks, similarity="iou").summary.iloc[-1], OF_TRACKS),
        (sf.track(wanderer, found, metrics=["siap", "vace", "ideucl", "ospa2_2"]).summary.iloc[-1], OF_REQUEST),
        (poses.summary.iloc[-1], OF_POSES),
        (swept.best.iloc[0], OF_CURVES),
        (
            sf.average_precision(
                sized, sized.assign(x=[0.0] * 3 + [1.25, 5, 25], score=[0.9] * 3 + [0.8] * 3)
            ).summary.iloc[0],
            OF_AP_AND_AR,
        ),
        (sf.average_precision(nose, nose.assign(score=1.0)).summary.iloc[0], OF_POSE_RECALL),
        (free.summary.iloc[0], OF_FREE_RESPONSE),
        (sf.average_precision(lvis, of_lvis.assign(score=0.5), protocol="lvis").summary.iloc[0], OF_FREQUENCIES),
    ]


def random_sums(random: np.random.Generator, n: int) -> dict[str, np.ndarray]:
    """Sums of n groups that match tables by distance could have, with tau = 10; some groups have no TP, FN or FP."""
    tp, fn, fp = random.integers(0, 4, (3, n)).astype(np.float64)
    near = tp * random.uniform(0, 1, n)
    errors = near * near + 100 * (fn + fp)
    sums = {"tp": tp, "fn": fn, "fp": fp, "squared_error": errors, "near": near, "near_squared": near * near}
    counts = {"kelvins_mse": errors, "n_sequences": np.ones(n), "n_frames": np.ones(n)}
    parts = {"localisation": near * near, "missed": 50 * fn, "false": 50 * fp}
    larger = np.maximum(fn, fp)
    mean = (parts["localisation"] + 100 * larger) / np.maximum(tp + larger, 1)
    return sums | counts | parts | {"gospa": np.sqrt(sum(parts.values())), "ospa": np.sqrt(mean)}
