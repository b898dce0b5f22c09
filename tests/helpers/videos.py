"""A scene to make videos of, and the frames of a video as a player shows them."""

from pathlib import Path

import numpy as np
import pandas as pd
from PIL import Image


def walkers(n_frames: int = 5) -> tuple[pd.DataFrame, pd.DataFrame]:
    """One object that goes to the right and is found but for the last frame, and one that stands in the corner."""
    truth = pd.DataFrame(
        {
            "sequence": "hall",
            "frame": np.repeat(np.arange(1, n_frames + 1), 2),
            "object": [1, 2] * n_frames,
            "x": [value for k in range(n_frames) for value in (20.0 + 60 * k, 600.0)],
            "y": [100.0, 300.0] * n_frames,
            "w": 40.0,
            "h": 80.0,
        }
    )
    found = truth[(truth["object"] == 2) | (truth["frame"] < n_frames)]
    return truth, found.assign(score=0.9)


def frames_of(path: Path) -> list[np.ndarray]:
    """The decoded frames of a video, each (height, width, 3) of 8 bits."""
    if path.suffix == ".gif":
        with Image.open(path) as image:
            found = []
            for place in range(image.n_frames):
                image.seek(place)
                found.append(np.asarray(image.convert("RGB")))
            return found
    import av  # an extra

    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
