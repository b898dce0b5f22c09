"""How much evidence `check` asks for before it suspects a mistake. Small sets show signs of any mistake by chance.

Signs that chance cannot make, such as joints at a negative visibility or sequences of other names, need none.
"""

# The least count of each kind of evidence.
FEWEST = {
    "gained objects": 5,  # net, once the mistake is corrected: those with more hits less those with fewer
    "repeated objects": 5,  # listed twice
    "sequences": 20,  # of an offset or an exchange
    "frames": 20,  # of a cap
    "sized objects": 20,  # boxes whose size is compared
    "steps": 10,  # from frame to frame, of matched objects
    "mended steps": 6,  # that no longer break an identity, or would break it rightly
}


def enough(evidence: str, count: float) -> bool:
    """Whether a count of this evidence, a key of FEWEST, is enough to suspect a mistake."""
    return count >= FEWEST[evidence]
