"""How much evidence `check` asks for before it suspects a mistake. Small sets show signs of any mistake by chance.

Signs that chance cannot make, such as joints at a negative visibility or sequences of other names, need none.
"""

# The least count of each kind of evidence.
FEWEST = {
    "gained objects": 5,  # net, and beyond chance, once the mistake is corrected: with more hits less with fewer
    "gained objects there": 15,  # in sequences that are looked at because few are hit there, which any change mends
    "repeated objects": 5,  # listed twice
    "sequences": 20,  # of a small offset, or of exchanged sides
    "sequences there": 3,  # that have predictions, while others have none
    "sequences on a side": 3,  # with an offset, and without it
    "late objects": 5,  # that are nearer in another frame; one in all frames of a sequence counts once
    "frames": 20,  # of a cap
    "capped sequences": 5,
    "sized objects": 20,  # boxes whose size is compared
    "worse sequences": 2,  # whose F1 is far below that of the others, and of these
    "other sequences": 2,
    "steps": 10,  # from frame to frame, of matched objects
    "mended steps": 6,  # that no longer break an identity, or would break it rightly
}


def enough(evidence: str, count: float) -> bool:
    """Whether a count of this evidence, a key of FEWEST, is enough to suspect a mistake."""
    return count >= FEWEST[evidence]
