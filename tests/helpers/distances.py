"""Distances of a caller's own, and sides to measure by them."""

import numpy as np
import pandas as pd

TAU, EPSILON = 4.0, 1.0


def euclidean(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
    """The distance of points, in the operations of the built-in one."""
    dx, dy = ((predictions[axis] - truth[axis]).to_numpy() for axis in "xy")
    return np.sqrt(dx * dx + dy * dy)


def great_circle(truth: pd.DataFrame, predictions: pd.DataFrame) -> np.ndarray:
    """The distance on the sky (arcsec) of right ascensions x and declinations y (degrees), by the haversine formula."""
    (ra, dec), (ra2, dec2) = (np.radians(side[["x", "y"]].to_numpy()).T for side in (truth, predictions))
    north, east = np.sin((dec2 - dec) / 2), np.sin((ra2 - ra) / 2)
    return np.degrees(2 * np.arcsin(np.sqrt(north**2 + np.cos(dec) * np.cos(dec2) * east**2))) * 3600


def on_a_grid(seed: int, n: int = 80, size: int = 12, categories: int = 2) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Two sides of points on a grid, where equal distances abound, with categories, crowds and tied scores."""
    random = np.random.default_rng(seed)

    def side(count: int) -> pd.DataFrame:
        keys = {"sequence": random.integers(1, 6, count), "frame": random.integers(1, 4, count)}
        places = {axis: random.integers(0, size, count).astype(float) for axis in "xy"}
        return pd.DataFrame(
            keys | {"object": np.arange(count)} | places | {"category": random.integers(0, categories, count)}
        )

    truth, predictions = side(n), side(n)
    every = pd.DataFrame({"sequence": np.repeat(np.arange(1, 6), 3), "frame": [1, 2, 3] * 5, "object": 1000})
    truth = pd.concat([truth, every.assign(x=0.0, y=0.0, category=0)], ignore_index=True)
    crowd = random.random(len(truth)) < 0.1
    return truth.assign(crowd=crowd), predictions.assign(score=random.integers(1, 5, n) / 4)


def on_the_sky(seed: int = 0, n: int = 200) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Stars (degrees), also at the poles and across a right ascension of 0, found to 0.5 arcsec; one in ten is not."""
    random = np.random.default_rng(seed)
    centre = np.array([[0.0, 0.0], [0.0, 89.9], [359.9999, 60.0], [123.0, -89.9], [180.0, 30.0]])
    sequence = np.repeat(np.arange(25), n // 25)
    middle = centre[sequence % 5]
    wide = np.stack([np.cos(np.radians(middle[:, 1])), np.ones(n)], axis=1)  # degrees of a great circle in one of each
    places = middle + random.uniform(-0.05, 0.05, (n, 2)) / wide
    keys = {"sequence": sequence, "frame": 1, "object": np.arange(n)}

    def table(places: np.ndarray) -> pd.DataFrame:
        return pd.DataFrame(keys | {"x": places[:, 0] % 360, "y": places[:, 1]})

    found = table(places + random.normal(0, 0.4 / 3600, (n, 2)) / wide).assign(score=random.random(n))
    return table(places), found[random.random(n) < 0.9].reset_index(drop=True)
