"""Makes the sample in data/sky: python data/make_sky.py, from the project's root.

Forty exposures (`sequence`, with one `frame`), all over the sky, at the poles and across ra = 0 too. Into each, forty
artificial stars of known magnitude were injected, as people do who measure how deep a survey goes. A detector finds the
brighter ones, fewer where the `seeing` (arcsec) is worse, a little east of where they are, and takes some noise for
stars. Seeded: the files come out the same each time. Written are the truth, the exposures, and what was detected.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from spotgeo_frames.support.writing import table_files, write_together

FOLDER = Path(__file__).parent / "sky"
N_EXPOSURES, N_STARS, WIDTH = 40, 40, 300.0  # and half the width of an exposure, arcsec

# The magnitude at which half of all stars are found where the seeing is 1 arcsec, how soon fewer are, and how far to
# the east they are found (arcsec).
HALF, WIDTH_OF_LOSS, EAST = 22.4, 0.25, 0.12
NOISE = 4.0  # false detections of an exposure, on average


def around(ra: np.ndarray, dec: np.ndarray, east: np.ndarray, north: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """ra and dec (degrees) of places so far east and north (arcsec) of others, in the tangent plane."""
    ra, dec, east, north = (np.radians(angle) for angle in (ra, dec, east / 3600, north / 3600))
    up = np.stack([np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)])
    to_east = np.stack([-np.sin(ra), np.cos(ra), np.zeros(len(ra))])
    to_north = np.stack([-np.sin(dec) * np.cos(ra), -np.sin(dec) * np.sin(ra), np.cos(dec)])
    x, y, z = up + east * to_east + north * to_north
    return np.degrees(np.arctan2(y, x)) % 360, np.degrees(np.arctan2(z, np.hypot(x, y)))


def make_exposures(random: np.random.Generator) -> pd.DataFrame:
    """Where each exposure points, and its seeing."""
    ra = random.uniform(0, 360, N_EXPOSURES)
    dec = np.degrees(np.arcsin(random.uniform(-1, 1, N_EXPOSURES)))
    ra[:4], dec[:4] = [0.0, 0.01, 10.0, 200.0], [0.0, -60.0, 90.0, -90.0]
    seeing = random.uniform(0.7, 1.8, N_EXPOSURES)
    sequence = np.arange(1, N_EXPOSURES + 1)
    return pd.DataFrame({"sequence": sequence, "frame": 1, "seeing": seeing, "ra": ra, "dec": dec})


def make_truth(exposures: pd.DataFrame, random: np.random.Generator) -> pd.DataFrame:
    """The injected stars with their magnitudes."""
    of_star = exposures.take(np.repeat(np.arange(len(exposures)), N_STARS))
    east, north = random.uniform(-WIDTH, WIDTH, (2, len(of_star)))
    ra, dec = around(of_star["ra"].to_numpy(), of_star["dec"].to_numpy(), east, north)
    star = np.tile(np.arange(N_STARS), len(exposures))
    magnitude = random.uniform(18.5, 24.5, len(of_star))
    key = {"sequence": of_star["sequence"].to_numpy(), "frame": 1, "object": star}
    return pd.DataFrame(key | {"ra": ra, "dec": dec, "magnitude": magnitude})


def make_detections(truth: pd.DataFrame, exposures: pd.DataFrame, random: np.random.Generator) -> pd.DataFrame:
    """What the detector finds of the stars, and of the noise."""
    seeing = truth["sequence"].map(exposures.set_index("sequence")["seeing"]).to_numpy()
    depth = HALF - 1.5 * np.log10(seeing)
    found = random.random(len(truth)) < 1 / (1 + np.exp((truth["magnitude"] - depth) / WIDTH_OF_LOSS))
    stars, blur = truth[found], (0.05 + 0.25 * 10 ** (0.3 * (truth["magnitude"] - depth)))[found].to_numpy()
    east, north = random.normal(0, blur * seeing[found], (2, len(stars)))
    ra, dec = around(stars["ra"].to_numpy(), stars["dec"].to_numpy(), east + EAST, north)
    score = 1 / (1 + np.exp((stars["magnitude"] - depth[found]) + random.normal(-1, 0.4, len(stars))))
    real = pd.DataFrame({"sequence": stars["sequence"], "frame": 1, "ra": ra, "dec": dec, "score": score})
    at = exposures.take(np.repeat(np.arange(len(exposures)), random.poisson(NOISE, len(exposures))))
    ra, dec = around(at["ra"].to_numpy(), at["dec"].to_numpy(), *random.uniform(-WIDTH, WIDTH, (2, len(at))))
    score = random.beta(2, 6, len(at))
    noise = pd.DataFrame({"sequence": at["sequence"], "frame": 1, "ra": ra, "dec": dec, "score": score})
    both = pd.concat([real, noise]).sort_values(["sequence", "score"], ascending=[True, False], ignore_index=True)
    both.insert(2, "object", both.groupby("sequence").cumcount())
    return both


def main() -> None:
    random = np.random.default_rng(7)
    exposures = make_exposures(random)
    truth = make_truth(exposures, random)
    detections = make_detections(truth, exposures, random)
    tables = {
        "truth": truth.round({"ra": 7, "dec": 7, "magnitude": 2}),
        "exposures": exposures[["sequence", "frame", "seeing"]].round(3),
        "detections": detections.round({"ra": 7, "dec": 7, "score": 3}),
    }
    write_together(table_files(tables, FOLDER, {}))


if __name__ == "__main__":
    main()
