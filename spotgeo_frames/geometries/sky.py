"""The sky: `ra` and `dec`, in degrees. Places are measured by great circles, in arcsec.

The formula is that of half angles (haversines), of the place and of its antipode, so the distance keeps all its digits
from a thousandth of an arcsec to 180 degrees, at the poles and where ra passes from 360 to 0.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..support import arrays
from ..tables import Columns
from .facts import Extents, Geometry, Offsets, Places, Rows, Slip, swapped

if TYPE_CHECKING:
    import pandas as pd

# Arcsec in a degree.
ARCSEC = 3600.0

# Searches reach farther by this share of the distance and this many degrees: more than any rounding error.
FARTHER, DEGREES = 1e-9, 1e-12

# Hours of right ascension, as catalogues have it, are 15 degrees each.
HOUR = 15.0


def great_circle(ra: np.ndarray, dec: np.ndarray, ra2: np.ndarray, dec2: np.ndarray) -> np.ndarray:
    """The distance (arcsec) of N pairs of places in the sky along great circles, (N,); all angles are in degrees.

    The square of the sine of half the distance is the haversine formula; that of the cosine is the same formula for the
    antipode of one place. Each is precise where the other is not.

    >>> great_circle(*np.array([[359.9999, 0.0], [0.0, 90.0], [0.0001, 77.0], [0.0, -90.0]])).round(9).tolist()
    [0.72, 648000.0]
    """
    across = _turn(ra2 - ra) / 2
    shrunk = arrays.cosine(dec) * arrays.cosine(dec2)
    near = arrays.sine((dec2 - dec) / 2) ** 2 + shrunk * arrays.sine(across) ** 2
    far = arrays.sine((dec2 + dec) / 2) ** 2 + shrunk * arrays.cosine(across) ** 2
    return 2 * ARCSEC * arrays.direction(np.sqrt(np.maximum(near, 0)), np.sqrt(np.maximum(far, 0)))


def _turn(degrees: np.ndarray) -> np.ndarray:
    """Differences of angles from -180 to 180, degrees."""
    turned: np.ndarray = degrees - 360 * np.round(degrees / 360)
    return turned


def _prepared(table: Columns) -> Places:
    """ra from 0 to 360, and dec; a table without rows may lack them."""
    ra, dec = (np.asarray(table[name]) if name in table else np.zeros(0) for name in ("ra", "dec"))
    return np.mod(ra, 360.0), dec


def _measure(truth: Places, predictions: Places, rows: np.ndarray, others: np.ndarray) -> np.ndarray:
    """The distances (arcsec) of pairs of rows, (P,)."""
    return great_circle(*(side.take(rows) for side in truth), *(side.take(others) for side in predictions))


def _reach(truth: Places, predictions: Places, farthest: float) -> tuple[Extents, Extents]:
    """The truths as they are, and the predictions with all that is as far away as `farthest` (arcsec).

    Rows lie in a chart of ra and dec (degrees) that is cut open where the fewest rows are. What reaches over the cut or
    over a pole reaches around the whole sky.
    """
    tau = farthest / ARCSEC * (1 + FARTHER) + DEGREES
    cut = _emptiest(np.concatenate([truth[0], predictions[0]]))
    (x, y), (x2, y2) = ((np.mod(ra - cut, 360.0), dec) for ra, dec in (truth, predictions))
    # A circle of radius tau around a place spans as many degrees of ra, unless a pole lies in it.
    has_pole = np.abs(y2) + tau >= 90
    ratio = arrays.sine(np.array(min(tau, 90.0))) / np.where(has_pole, 1.0, arrays.cosine(y2))
    span = np.where(has_pole, 360.0, np.degrees(np.arcsin(np.minimum(ratio, 1.0))) * (1 + FARTHER) + DEGREES)
    is_cut = (x2 < span) | (x2 > 360 - span)
    return Extents(x, y, 0.0, 0.0), Extents(np.where(is_cut, 180.0, x2), y2, np.where(is_cut, 360.0, span), tau)


def _emptiest(ra: np.ndarray) -> float:
    """The middle of the degree of ra in which the fewest rows lie."""
    whole = np.minimum(ra.astype(np.int64), 359)
    return float(np.argmin(np.bincount(whole, minlength=360))) + 0.5


def _place(rows: Rows) -> Places:
    """ra, from 0 to 360, and dec, degrees."""
    return np.mod(rows["ra"], 360.0), rows["dec"]


def _offsets(truth: Rows, predictions: Rows) -> np.ndarray:
    """How far predictions are east and north of the truth (arcsec), along the great circle to them, (N, 1, 2)."""
    return np.column_stack(_east_north(_place(truth), _place(predictions)))[:, None]


def _east_north(one: Places, other: Places) -> Places:
    """How far N places are east and north of others (arcsec), along the great circle to them; null of the antipode."""
    (ra, dec), (ra2, dec2) = one, other
    across = _turn(ra2 - ra)
    # The position angle: both parts are differences that keep all their digits where the places are near.
    east = arrays.sine(across) * arrays.cosine(dec2)
    north = arrays.sine(dec2 - dec) + 2 * arrays.sine(dec) * arrays.cosine(dec2) * arrays.sine(across / 2) ** 2
    length = np.sqrt(east * east + north * north)
    far = great_circle(ra, dec, ra2, dec2)
    scale = far / np.where(length > 0, length, np.where(far > 0, np.nan, 1.0))
    return east * scale, north * scale


def _chart(truth: Rows, predictions: Rows, sequence: np.ndarray) -> tuple[Places, Places]:
    """How far the rows of both sides are west and south (arcsec) of the middle of their sequence, a number from 0 on.

    So north is up and east is left where x points right and y points down. The middle is that of the truths, or of the
    predictions where there are none.
    """
    sides = [_place(rows) for rows in (truth, predictions)]
    n_sequences = int(sequence.max(initial=-1)) + 1
    sums = [_added(side, sequence, n_sequences) for side in sides]
    x, y, z = np.where(np.isfinite(sums[0]) & (np.abs(sums[0]).sum(axis=0) > 0), *sums)
    middle = arrays.direction(y, x), arrays.direction(z, np.sqrt(x * x + y * y))
    of_rows = middle[0][sequence], middle[1][sequence]
    (east, north), (east2, north2) = (_east_north(of_rows, side) for side in sides)
    return (-east, -north), (-east2, -north2)


def _added(side: Places, sequence: np.ndarray, n_sequences: int) -> np.ndarray:
    """The sums of the unit vectors of places by sequence, (3, sequences); null places add nothing."""
    known = np.isfinite(side[0]) & np.isfinite(side[1])
    ra, dec = (along[known] for along in side)
    across = arrays.cosine(dec)
    vector = across * arrays.cosine(ra), across * arrays.sine(ra), arrays.sine(dec)
    return np.stack([arrays.added_at(sequence[known], along, n_sequences) for along in vector])


def _moved(predictions: pd.DataFrame, offset: np.ndarray) -> pd.DataFrame:
    """Places without an offset of each, (N, 1, 2)."""
    east, north = offset[:, 0].T / ARCSEC
    dec = np.clip(predictions["dec"].to_numpy() - north, -90, 90)
    return predictions.assign(ra=predictions["ra"] - east / np.maximum(arrays.cosine(dec), DEGREES), dec=dec)


def _of_radians(places: pd.DataFrame) -> pd.DataFrame:
    return places.assign(ra=np.degrees(places["ra"]), dec=np.degrees(places["dec"]))


def _of_hours(places: pd.DataFrame) -> pd.DataFrame:
    return places.assign(ra=places["ra"] * HOUR)


def _as_hours(places: pd.DataFrame) -> pd.DataFrame:
    return places.assign(ra=places["ra"] / HOUR)


def _to_the_east(places: pd.DataFrame) -> pd.DataFrame:
    return places.assign(ra=-places["ra"])


def _to_the_north(places: pd.DataFrame) -> pd.DataFrame:
    return places.assign(dec=-places["dec"])


def _around_pole(places: pd.DataFrame) -> pd.DataFrame:
    return places.assign(ra=places["ra"] / np.maximum(arrays.cosine(places["dec"].to_numpy()), DEGREES))


SLIPS: tuple[Slip, ...] = (
    (
        "ra and dec are swapped",
        "write the right ascension, then the declination: ra, dec",
        partial(swapped, one="ra", other="dec"),
    ),
    ("ra and dec are in radians", "give them in degrees: multiply by 180 / pi", _of_radians),
    ("ra is in hours", "give it in degrees: multiply by 15", _of_hours),
    ("ra is taken for hours and multiplied by 15", "give it as it was: divide by 15", _as_hours),
    ("ra grows to the west", "count it to the east: 360 - ra", _to_the_east),
    ("dec is positive in the south", "give it positive in the north: -dec", _to_the_north),
    ("ra is multiplied by the cosine of dec", "give it as an angle around the pole: divide by cos(dec)", _around_pole),
)
SKY = Geometry(
    "sky",
    ("ra", "dec"),
    _prepared,
    _measure,
    _reach,
    is_distance=True,
    words="places in the sky",
    unit="arcsec",
    places_in="degrees",
    places_per_unit=1 / ARCSEC,
    title="similarity of places in the sky",
    place=_place,
    chart=_chart,
    axes=("east", "north"),
    offsets=Offsets(["d_east", "d_north"], [""], _offsets, _moved, np.asarray),
    slips=SLIPS,
)
