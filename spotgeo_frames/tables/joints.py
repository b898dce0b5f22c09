"""The names of joints, and how precisely annotators place them."""

# The standard deviation of each joint's place among annotators, as a share of the object's size (the square root of its
# area), from COCO's evaluator (pycocotools).
COCO_SIGMAS = {
    "nose": 0.026,
    "left_eye": 0.025,
    "right_eye": 0.025,
    "left_ear": 0.035,
    "right_ear": 0.035,
    "left_shoulder": 0.079,
    "right_shoulder": 0.079,
    "left_elbow": 0.072,
    "right_elbow": 0.072,
    "left_wrist": 0.062,
    "right_wrist": 0.062,
    "left_hip": 0.107,
    "right_hip": 0.107,
    "left_knee": 0.087,
    "right_knee": 0.087,
    "left_ankle": 0.089,
    "right_ankle": 0.089,
}
PAIRED = ["shoulder", "elbow", "wrist", "hip", "knee", "ankle"]
RAW_JOINTS = ["nose", "head_bottom", "head_top", "left_ear", "right_ear"]
RAW_JOINTS += [f"{side}_{joint}" for joint in PAIRED for side in ("left", "right")]
EARS = (3, 4)

# PoseTrack's files list the joints of RAW_JOINTS in this order; its evaluation leaves out the ears, at these positions.
JOINTS = [joint for position, joint in enumerate(RAW_JOINTS) if position not in EARS]

# The pairs of joints that bones connect, of COCO's joints and of PoseTrack's.
MIDDLE_BONES = [
    ("head_top", "nose"),
    ("nose", "head_bottom"),
    ("left_eye", "right_eye"),
    ("left_shoulder", "right_shoulder"),
    ("left_hip", "right_hip"),
]
SIDE_BONES = [
    ("nose", "{}_eye"),
    ("{}_eye", "{}_ear"),
    ("{}_ear", "{}_shoulder"),
    ("head_bottom", "{}_shoulder"),
    ("{}_shoulder", "{}_elbow"),
    ("{}_elbow", "{}_wrist"),
    ("{}_shoulder", "{}_hip"),
    ("{}_hip", "{}_knee"),
    ("{}_knee", "{}_ankle"),
]
BONES = MIDDLE_BONES + [
    (one.format(side), other.format(side)) for side in ("left", "right") for one, other in SIDE_BONES
]
