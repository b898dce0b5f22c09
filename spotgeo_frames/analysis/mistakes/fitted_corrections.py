"""Corrections that are fitted to the pairs of truth and predictions, for `check`: their numbers and names are found.

An offset, a scale and a count of frames are where most pairs agree (`votes`). Exchanged sequences and categories are
those whose predictions lie where the objects of another one are, and the reverse.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pandas as pd

from ...geometries import Geometry, geometry_of
from ...support import arrays
from ...tables import Annotations, checks, messages
from .corrections import Correction, scaled, with_frames_shifted, with_names
from .evidence import FramePairs, frame_offsets, frame_pairs, frame_votes, fullest, near, places_of

# What is said of sequences that have each other's predictions.
EXCHANGED = "sequences are exchanged"

# The least offset (px) that can change F1 much, and that as a share of the distance of a match in other units.
LEAST_OFF, LEAST_OF_REACH = 1.0, 0.1

# The least width of a peak of the logarithms of scales; it is larger where what matches is a larger share of places.
SAME_LOGARITHM = 0.02

# Two factors that differ by less are one; the logarithm of the largest.
SAME_FACTOR, MOST_SCALED = 0.005, 14.0

# Of sequences and categories, the fewest predictions that lie where the objects of another one are, and how many
# objects that are in several frames they have to be; and how many predictions of a sequence are looked at.
FEWEST_ELSEWHERE, FEWEST_OBJECTS, OF_SEQUENCE, FEWEST_VOTERS, MOST_VOTERS = 3, 3, 12, 1000, 20_000

# Sequences in which at least this share of predictions lies near an object are called what they should be.
HITS = 0.6

# What share of the sequences that are called otherwise has to differ by the same number.
SAME_STEP = 0.8


def of_offsets_and_scales(truth: Annotations, predictions: pd.DataFrame, reach: float) -> Iterator[Correction]:
    """Coordinates that are off by the same, or are multiplied by a factor."""
    geometry = geometry_of(predictions)
    if not geometry.can_move:
        return
    if geometry.places_in is not None:
        yield from _offsets_in_unit(truth, predictions, reach)
        return
    pairs = frame_pairs(*_places(truth, predictions))
    peak = fullest(pairs.claimed - pairs.true, pairs.weight, reach)
    if peak is not None and peak.is_clear and np.hypot(*peak.place) > LEAST_OFF:
        dx, dy = peak.place
        advice = f"predictions lie {dx:+.1f} px in x and {dy:+.1f} px in y from the truth: subtract that"
        corrected = geometry.shifted(predictions, dx, dy)
        yield Correction(f"coordinates are {np.hypot(dx, dy):.1f} px off", advice, truth, corrected, fitted=True)
    factors = _factors(pairs, reach) if geometry.in_image else None
    if factors is not None:
        yield scaled_by(truth, predictions, factors)


def _offsets_in_unit(truth: Annotations, predictions: pd.DataFrame, reach: float) -> Iterator[Correction]:
    """Places that are off by the same along both axes, where these are not those of the places, as in the sky."""
    geometry = geometry_of(predictions)
    if geometry_of(truth.objects) is not geometry:
        return
    offset, weight = frame_offsets(truth.objects, predictions)
    within = reach / geometry.places_per_unit
    peak = fullest(offset, weight, within)
    if peak is None or not peak.is_clear or np.hypot(*peak.place) < LEAST_OF_REACH * within:
        return
    corrected = geometry.shifted(predictions, *peak.place)
    yield Correction(*told_offset(geometry, peak.place), truth, corrected, fitted=True)


def told_offset(geometry: Geometry, offset: np.ndarray) -> tuple[str, str]:
    """How far off places are (2,), in the unit of the geometry and along its axes, and what to do about it."""
    along = " and ".join(f"{far:+.3g} {geometry.unit} {axis}" for far, axis in zip(offset, geometry.axes, strict=True))
    return f"places are {np.hypot(*offset):.3g} {geometry.unit} off", f"predictions lie {along} of the truth"


def _factors(pairs: FramePairs, reach: float) -> np.ndarray | None:
    """The two factors by which most predictions are scaled, if they are clear and not about 1."""
    positive = ((pairs.true > 0) & (pairs.claimed > 0)).all(axis=1)
    if not positive.any():
        return None
    true, claimed = pairs.true[positive], pairs.claimed[positive]
    logarithms = arrays.log(claimed) - arrays.log(true)
    width = max(SAME_LOGARITHM, min(1.0, reach / max(float(np.median(true)), 1.0) / 2))
    peak = fullest(logarithms, pairs.weight[positive], width)
    if peak is None or not peak.is_clear or not SAME_FACTOR < np.abs(peak.place).max() < MOST_SCALED:
        return None
    agree = (np.abs(logarithms - peak.place) < width / 2).all(axis=1)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        factors = (true[agree] * claimed[agree]).sum(axis=0) / (true[agree] ** 2).sum(axis=0)
    return factors if np.isfinite(factors).all() and (factors > 0).all() else None


def scaled_by(truth: Annotations, predictions: pd.DataFrame, factors: np.ndarray) -> Correction:
    """The correction of x, and w, and of y, and h, that are multiplied by two factors."""
    if abs(factors[0] / factors[1] - 1) < SAME_FACTOR:
        factors = np.full(2, np.sqrt(factors[0] * factors[1]))
        suspicion = f"coordinates are scaled by {_told(factors[0])}"
    else:
        suspicion = f"coordinates are scaled by {_told(factors[0])} in x and by {_told(factors[1])} in y"
    by_x, by_y = (f"{factor:.4g}" for factor in factors)
    third = geometry_of(predictions).third
    divide = f"x, y and {third} by {by_x}" if third and factors[0] == factors[1] else f"x by {by_x} and y by {by_y}"
    advice = f"give pixels of the truth's images: divide {divide}"
    return Correction(suspicion, advice, truth, scaled(predictions, *(1 / factors)), fitted=True)


def _told(factor: float) -> str:
    """A factor with two decimals, and with four where it is nearly 1."""
    return f"{factor:.3g}" if abs(factor - 1) >= 0.02 else f"{factor:.4f}"


def of_frame_shifts(truth: Annotations, predictions: pd.DataFrame, reach: float) -> Iterator[Correction]:
    """Frames that are numbered too low or too high by two or more."""
    votes = frame_votes(*_places(truth, predictions), reach)[0].set_index("later")
    n_objects = votes["n_objects"]
    if not len(votes) or n_objects.max() <= n_objects[n_objects.index == 0].sum():
        return
    shifts = votes["distance"][n_objects >= 0.9 * n_objects.max()].idxmin(), n_objects.idxmax()
    for shift in dict.fromkeys(map(int, shifts)):
        if abs(shift) > 1:
            yield with_frames_shifted(truth, predictions, shift)


def of_sequences(truth: Annotations, predictions: pd.DataFrame, reach: float) -> Iterator[Correction]:
    """Predictions of a sequence that are called another one, and the reverse, or all in a circle."""
    known, found = _places(truth, predictions)
    names_of_truth, names_found = ({*side["sequence"].unique()} for side in (known, found))
    if not names_of_truth & names_found:
        return
    links = _other_sequences(known, found, reach)
    if not links:
        return
    names = checks.decoded(predictions["sequence"])
    if pd.api.types.is_integer_dtype(names.dtype):
        steps = pd.Series([to - of for of, to in links.items()])
        step = int(steps.mode().iloc[0])
        goes_beyond = not names_found <= names_of_truth
        if goes_beyond and len(steps) >= FEWEST_ELSEWHERE and (steps == step).mean() >= SAME_STEP:
            suspicion = f"sequences are numbered too {'low' if step > 0 else 'high'} by {abs(step):,}"
            advice = f"count sequences as the truth does: sequence = sequence {'+' if step > 0 else '-'} {abs(step)}"
            yield Correction(suspicion, advice, truth, predictions.assign(sequence=names + step), fitted=True)
    circles = _circles(links)
    if circles:
        called = _called(circles, "predictions of {} are called {}")
        advice = f"name sequences as the truth does: {called}"
        corrected = with_names(predictions, "sequence", circles)
        yield Correction(EXCHANGED, advice, truth, corrected, fitted=True)


def _other_sequences(known: pd.DataFrame, found: pd.DataFrame, reach: float) -> dict[Any, Any]:
    """For sequences of the predictions, those in which most of them lie near objects instead, if that is mutual."""
    is_near = np.zeros(len(found), bool)
    is_near[near(known, found, reach)[1]] = True
    hits = pd.Series(is_near).groupby(found["sequence"]).mean()
    strange = {*hits.index[hits < HITS], *known["sequence"].unique()} - {*hits.index[hits >= HITS]}
    known, voters = (side[side["sequence"].isin(strange)].reset_index(drop=True) for side in (known, found))
    if known["sequence"].nunique() < 2 or voters["sequence"].nunique() < 2:
        return {}
    step = max(1, len(voters) // max(FEWEST_VOTERS, min(MOST_VOTERS, OF_SEQUENCE * voters["sequence"].nunique())))
    voters = voters.iloc[::step]
    of_truth, of_voter = near(known.assign(sequence=0), voters.assign(sequence=0), reach / 2)
    pairs = pd.DataFrame(
        {"voter": of_voter, "of": voters["sequence"].iloc[of_voter].array, "to": known["sequence"].iloc[of_truth].array}
    ).drop_duplicates()
    votes = pairs.groupby(["of", "to"], observed=True).size().reset_index(name="n")
    votes = votes.sort_values("n", ascending=False, kind="stable")
    # A link is the first of its votes in both directions; the second ones are its rivals.
    links = votes[~votes.duplicated("of") & ~votes.duplicated("to") & (votes["of"] != votes["to"])]
    rivals = [
        votes[votes.groupby(side, observed=True).cumcount() == 1].set_index(side)["n"].reindex(links[side]).to_numpy()
        for side in ("of", "to")
    ]
    rival = np.nan_to_num(np.fmax(*rivals))
    links = links[(links["n"] >= FEWEST_ELSEWHERE) & (links["n"] >= 2 * rival)]
    return dict(zip(links["of"].tolist(), links["to"].tolist(), strict=True))


def _circles(links: Mapping[Any, Any]) -> dict[Any, Any]:
    """The links that form circles. A chain of two or more is closed: its end has no predictions that tell more."""
    closed: dict[Any, Any] = {}
    starts = [name for name in links if name not in {*links.values()}]
    for start in [*starts, *links]:
        chain, name = {}, start
        while name in links and name not in chain and name not in closed:
            chain[name] = links[name]
            name = links[name]
        if name == start:
            closed |= chain
        elif len(chain) > 1 and name not in closed:
            closed |= chain | {name: start}
    return closed


def of_categories(truth: Annotations, predictions: pd.DataFrame, reach: float) -> Iterator[Correction]:
    """Categories that go by each other's names: predictions of one lie where objects of the other are."""
    if "category" not in truth.objects or "category" not in predictions:
        return
    known, found = (side.assign(category=checks.decoded(side["category"])) for side in _places(truth, predictions))
    if len({*known["category"].dropna()} & {*found["category"].dropna()}) < 2:
        return
    votes = _category_votes(known, found, reach)
    both = [*votes.index.intersection(votes.columns)]
    links = {}
    for of in both:
        to, n = votes.loc[of].idxmax(), votes.loc[of].max()
        is_most = n > max(votes.loc[of].sum(), votes[to].sum()) / 2
        if of != to and to in both and n >= FEWEST_OBJECTS and is_most:
            links[of] = to
    swapped = {of: to for of, to in links.items() if to in links and of in links.values()}
    if swapped and {*swapped} == {*swapped.values()}:
        advice = f"name categories as the truth does: {_called(swapped, 'what is {} is called {}')}"
        corrected = with_names(predictions, "category", swapped)
        yield Correction("categories are exchanged", advice, truth, corrected, least_gain=0.0)


def _category_votes(known: pd.DataFrame, found: pd.DataFrame, reach: float) -> pd.DataFrame:
    """How many objects of each category of the truth (columns) have a prediction of each (rows) nearest to them."""
    found = found.iloc[:: max(1, len(found) // MOST_VOTERS)]
    of_truth, of_voter = near(known, found, reach)
    far = np.hypot(*(known[axis].to_numpy()[of_truth] - found[axis].to_numpy()[of_voter] for axis in "xy"))
    pairs = pd.DataFrame({"truth": of_truth, "voter": of_voter, "far": far}).sort_values("far", kind="stable")
    pairs = pairs.drop_duplicates("voter").drop_duplicates("truth")
    n_frames = known.groupby("sequence")["frame"].nunique()
    of, to = found["category"].iloc[pairs["voter"]].array, known["category"].iloc[pairs["truth"]].array
    weight = 1 / n_frames.reindex(known["sequence"].iloc[pairs["truth"]]).to_numpy()
    votes = pd.DataFrame({"of": of, "to": to, "n": weight})
    return votes.pivot_table("n", "of", "to", aggfunc="sum", fill_value=0, observed=True)


def _called(names: Mapping[Any, Any], options: str) -> str:
    """What is called otherwise: the right name and the name that it has, of the first few."""
    texts = [options.format(right, wrong) for wrong, right in names.items()]
    return ", ".join([*texts[: messages.MOST_NAMED], *(["and so on"] if len(texts) > messages.MOST_NAMED else [])])


def _places(truth: Annotations, predictions: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    return places_of(truth.objects, truth.objects), places_of(predictions, truth.objects)
