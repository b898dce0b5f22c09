"""The sky: great circles in arcsec, wherever a field lies, in every function that points have."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.commands import run_here
from helpers.problems import refused, warned
from spotgeo_frames.geometries.sky import great_circle

# Middles of fields: on both poles, where ra passes from 360 to 0, and anywhere.
FIELDS = {"north": (0.0, 90.0), "south": (77.0, -90.0), "seam": (0.0, 0.0), "high": (359.99, 85.0), "low": (123.0, -30)}
TAU = 2.0


def places(middle: tuple[float, float], n: int, width: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """ra and dec (degrees) of places within `width` arcsec of a middle."""
    random = np.random.default_rng(seed)
    ra, dec = np.radians(middle)
    up = np.array([np.cos(dec) * np.cos(ra), np.cos(dec) * np.sin(ra), np.sin(dec)])
    east = np.array([-np.sin(ra), np.cos(ra), 0.0])
    plane = random.uniform(-width, width, (n, 2)) / 206264.80624709636
    x, y, z = (up + plane[:, :1] * east + plane[:, 1:] * np.cross(up, east)).T
    return np.degrees(np.arctan2(y, x)) % 360, np.degrees(np.arctan2(z, np.hypot(x, y)))


def sky(ra: np.ndarray, dec: np.ndarray, sequence: object = 1) -> pd.DataFrame:
    return pd.DataFrame({"sequence": sequence, "frame": 1, "object": np.arange(len(ra)), "ra": ra, "dec": dec})


def fields(n: int = 60, width: float = 60.0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """A truth of several fields, and predictions 0.4 arcsec east and 0.3 arcsec south of each of its objects."""
    truth = pd.concat(
        [sky(*places(middle, n, width, seed), name) for seed, (name, middle) in enumerate(FIELDS.items())],
        ignore_index=True,
    )
    east = 0.4 / 3600 / np.cos(np.radians(truth["dec"]))
    return truth, truth.assign(ra=(truth["ra"] + east) % 360, dec=truth["dec"] - 0.3 / 3600, score=0.9)


def exact(ra: float, dec: float, ra2: float, dec2: float) -> float:
    """The distance (arcsec) by Vincenty's formula in long double."""
    a, d, a2, d2 = (np.radians(np.longdouble(value)) for value in (ra, dec, ra2, dec2))
    across = a2 - a
    y = np.hypot(np.cos(d2) * np.sin(across), np.cos(d) * np.sin(d2) - np.sin(d) * np.cos(d2) * np.cos(across))
    return float(np.degrees(np.arctan2(y, np.sin(d) * np.sin(d2) + np.cos(d) * np.cos(d2) * np.cos(across))) * 3600)


@pytest.mark.parametrize(
    ("one", "other", "distance"),
    [
        ((0.0, 0.0), (0.0, 0.001 / 3600), 0.001),
        ((0.0, 0.0), (360 - 0.0005 / 3600, 0.0), 0.0005),
        ((10.0, 90.0), (200.0, 90 - 0.001 / 3600), 0.001),
        ((0.0, 89.999), (180.0, 89.999), 0.002 * 3600),
        ((12.0, 0.0), (192.0, 0.0), 180 * 3600),
        ((0.0, 90.0), (50.0, -90.0), 180 * 3600),
        ((0.0, 30.0), (180.0, -30 + 0.001 / 3600), 180 * 3600 - 0.001),
        ((725.0, 60.0), (5.0, 60.0), 0.0),
    ],
)
def test_great_circles_keep_their_digits(one: tuple[float, float], other: tuple[float, float], distance: float) -> None:
    found = great_circle(*(np.array([value]) for value in (*one, *other)))
    assert found[0] == pytest.approx(distance, rel=1e-9, abs=3e-10)  # coordinates of 360 degrees end there


@settings(deadline=None, max_examples=200)
@given(*(st.tuples(st.floats(0, 360), st.floats(-90, 90)) for _ in range(2)))
def test_great_circles_are_those_of_vincenty(one: tuple[float, float], other: tuple[float, float]) -> None:
    forth, back = (great_circle(*np.array([[*a, *b]]).T)[0] for a, b in ((one, other), (other, one)))
    assert forth == back
    assert forth == pytest.approx(exact(*one, *other), rel=1e-10, abs=1e-9)


@pytest.mark.parametrize("n", [20, 3000])
@pytest.mark.parametrize("middle", FIELDS.values(), ids=FIELDS)
def test_all_pairs_within_tau_are_found(middle: tuple[float, float], n: int) -> None:
    ra, dec = places(middle, n, 3.0 * n + 60, seed=3)
    ra2, dec2 = places(middle, n, 3.0 * n + 60, seed=4)
    matches = sf.match(sky(ra, dec), sky(ra2, dec2), tau=20.0, epsilon=0)
    near = sum(great_circle(np.full(n, a), np.full(n, d), ra2, dec2).min() <= 20 for a, d in zip(ra, dec, strict=True))
    found = int((matches["outcome"] == "TP").sum())
    assert 0 < found <= near
    hits = matches[matches["outcome"] == "TP"]
    told = great_circle(
        *(hits[f"{side}_{axis}"].to_numpy() for side in ("truth", "predicted") for axis in ("ra", "dec"))
    )
    np.testing.assert_array_equal(told, hits["distance"].to_numpy())
    if n == 20:  # all pairs, by hand
        plain = sf.match(
            sky(ra, dec).assign(x=0.0, y=0.0),
            sky(ra2, dec2).assign(x=0.0, y=0.0),
            tau=20.0,
            epsilon=0,
            distance=lambda a, b: great_circle(a["ra"], a["dec"], b["ra"], b["dec"]),
        )
        assert found == (plain["outcome"] == "TP").sum()


def test_the_whole_sky() -> None:
    random = np.random.default_rng(1)
    n = 4000
    ra, dec = random.uniform(0, 360, n), np.degrees(np.arcsin(random.uniform(-1, 1, n)))
    truth = sky(ra, dec)
    turned = sky((ra + 360 * random.integers(-1, 2, n)), dec)
    assert (sf.match(truth, turned, tau=1.0)["outcome"] == "TP").all()


def test_fields_are_the_same_everywhere() -> None:
    truth, predictions = fields()
    matches = sf.match(truth, predictions, tau=TAU)
    assert (matches["outcome"] == "TP").all()
    np.testing.assert_allclose(matches["distance"], 0.5, atol=0.03)  # ra is no straight line near a pole
    offsets = sf.bias(matches).set_index("metric")["estimate"]
    np.testing.assert_allclose(offsets[["d_east", "d_north"]], [0.4, -0.3], atol=0.25)
    away = sf.bias(matches[~matches["sequence"].isin(["north", "south"])]).set_index("metric")["estimate"]
    np.testing.assert_allclose(away[["d_east", "d_north"]], [0.4, -0.3], atol=1e-5)
    assert away["mse_corrected"] < 1e-6
    assert {"rule": "distance", "geometry": "sky", "unit": "arcsec", "tau": TAU}.items() <= matches.attrs.items()


def test_tracks_and_average_precision() -> None:
    truth, predictions = fields()
    result = sf.track(truth, predictions, tau=TAU)
    combined = result.summary[result.summary["sequence"].isna()].iloc[0]
    assert combined["MOTA"] == 1
    assert result.matches["similarity"].mean() == pytest.approx(1 - 0.5 / (2 * TAU), abs=1e-3)
    assert sf.sweep(truth, predictions, score=[0.5], tau=TAU).curve["f1"].tolist() == [1.0]


def test_tau_has_to_be_said() -> None:
    with refused(("places in the sky are measured by a distance", "tau", "arcsec")):
        sf.match(*fields())


def test_nothing_tells_the_direction_of_the_antipode() -> None:
    matches = sf.match(sky(np.zeros(1), np.zeros(1)), sky(np.full(1, 180.0), np.zeros(1)), tau=648000)
    assert matches["distance"].tolist() == [648000]
    assert sf.bias(matches).set_index("metric")["estimate"][["d_east", "d_north"]].isna().all()


def test_boxes_are_not_compared_in_the_sky() -> None:
    truth, found = fields(5)
    with refused(("truth: has places in the sky", "iou"), ("predictions: has places in the sky", "iou")):
        sf.match(truth, found, similarity="iou")


def test_one_side_in_the_sky() -> None:
    truth, predictions = fields()
    pixels = predictions.rename(columns={"ra": "x", "dec": "y"})
    for sides in ((truth, pixels), (pixels, truth)):
        with pytest.raises(
            sf.InputError,
            match=r"columns ra, dec are of places in the sky, and there are points in .*; make both sides the same",
        ):
            sf.match(*sides, tau=TAU)


def test_places_in_pixels_may_carry_their_place_in_the_sky() -> None:
    sides = [side.assign(x=1.0 * side["object"], y=0.0) for side in fields()]
    with refused(("truth: columns ra, dec", "without x and y"), ("predictions: columns ra, dec", "without x and y")):
        sf.match(*sides)
    with warned(("truth: ra and dec play no part, and tau is in px", "predictions", "without x and y")):
        matches = sf.match(*sides, tau=TAU)
    assert (matches["distance"] == 0).all()
    assert matches.attrs["rule"] == "distance"
    assert "geometry" not in matches.attrs
    assert sf.bias(matches)["metric"].iloc[0] == "dx"


@pytest.mark.parametrize(
    ("column", "value", "names"),
    [
        ("dec", 90.5, ("beyond -90 to 90 degrees", "object 3")),
        ("dec", -1e300, ("beyond",)),
        ("ra", 1e300, ("beyond",)),
        ("ra", np.nan, ("not finite",)),
        ("dec", np.inf, ("not finite",)),
    ],
)
def test_places_that_are_none(column: str, value: float, names: tuple[str, ...], tmp_path: Path) -> None:
    truth, predictions = fields()
    predictions.loc[3, column] = value
    with refused((f"predictions: column {column}", *names)):
        sf.match(truth, predictions, tau=TAU)
    predictions.to_parquet(tmp_path / "predictions.parquet")
    truth.to_parquet(tmp_path / "truth.parquet")
    with pytest.raises(sf.InputError, match=f"column {column}"):
        sf.score_dataset(tmp_path / "truth.parquet", tmp_path / "predictions.parquet", tau=TAU)


def test_check_finds_slips() -> None:
    random = np.random.default_rng(0)
    truth = sky(random.uniform(10, 40, 300), random.uniform(10, 40, 300)).assign(sequence=np.arange(300) // 30)
    assert not len(sf.check(truth, truth, tau=TAU))
    wrong = {
        "ra and dec are swapped": truth.assign(ra=truth["dec"], dec=truth["ra"]),
        "ra and dec are in radians": truth.assign(ra=np.radians(truth["ra"]), dec=np.radians(truth["dec"])),
        "ra is in hours": truth.assign(ra=truth["ra"] / 15),
        "ra is taken for hours and multiplied by 15": truth.assign(ra=truth["ra"] * 15),
        "ra grows to the west": truth.assign(ra=360 - truth["ra"]),
        "dec is positive in the south": truth.assign(dec=-truth["dec"]),
        "ra is multiplied by the cosine of dec": truth.assign(ra=truth["ra"] * np.cos(np.radians(truth["dec"]))),
    }
    for suspicion, predictions in wrong.items():
        assert sf.check(truth, predictions, tau=TAU)["suspicion"].tolist() == [suspicion]


@pytest.mark.parametrize(("east", "told"), [(0.0, None), (0.2, None), (0.7, "places are"), (30.0, "places are 30")])
def test_check_finds_offsets(east: float, told: str | None) -> None:
    """An offset is told where it makes most of the error, whether objects still match or not."""
    random = np.random.default_rng(0)
    n = 1000
    truth = sky(random.uniform(100, 101, n), random.uniform(40, 41, n)).assign(sequence=np.arange(n) // 25)
    across, up = random.normal(0, 0.3, (2, n)) / 3600
    across = (across + east / 3600) / np.cos(np.radians(truth["dec"]))
    found = sf.check(truth, truth.assign(ra=truth["ra"] + across, dec=truth["dec"] + up), tau=TAU)
    assert len(found) == (told is not None)
    if told is not None:
        assert found["suspicion"][0].startswith(told)
        assert "arcsec east" in found["advice"][0]
        assert found["f1_corrected"][0] >= found["f1"][0]


def test_pictures_have_east_on_the_left() -> None:
    matches = sf.match(*fields(5), tau=TAU)
    ax = sf.plots.frame(matches, "high", 1)
    assert ax.get_xlabel() == "east of the middle, arcsec"
    assert ax.get_ylabel() == "north of the middle, arcsec"
    [*_, missed] = ax.lines
    assert missed.get_xdata().size == 0
    hits = next(line for line in ax.lines if line.get_marker() == "o")
    east = np.argmax((matches[matches["sequence"] == "high"]["truth_ra"] + 180) % 360)
    assert np.argmin(hits.get_xdata()) == east
    assert ax.xaxis.get_major_formatter()(-20.0, 0) == "20"
    assert sf.plots.residuals(matches).get_xlabel() == "east of the truth, arcsec"
    with refused(("plots: a picture", "x and y")):
        sf.plots.frame(matches, "high", 1, picture=np.zeros((9, 9)))


def test_a_lost_rule_is_read_from_columns() -> None:
    matches = sf.match(*fields(), tau=TAU)
    bare = matches.copy()
    bare.attrs = {}
    known, found = (sf.bias(table, tau=TAU, epsilon=0) for table in (matches, bare))
    pd.testing.assert_frame_equal(known, found)


def test_the_command_line(tmp_path: Path) -> None:
    for name, side in zip(("truth", "predictions"), fields(), strict=True):
        side.to_csv(tmp_path / f"{name}.csv", index=False)
    done = run_here("score", tmp_path / "truth.csv", tmp_path / "predictions.csv", "--tau", "2", "--json")
    assert done.status == 0
    assert '"tp": 300' in done.out
    done = run_here("score", tmp_path / "truth.csv", tmp_path / "predictions.csv")
    assert done.status == 1
    assert "give tau" in done.err


@pytest.mark.parametrize("command", ["score", "diagnose", "sweep", "compare", "gate"])
def test_the_command_line_tells_arcsec(command: str, tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("truth.csv", "predictions.csv")]
    for path, side in zip(paths, fields(), strict=True):
        side.assign(score=0.5).to_csv(path, index=False)
    more = {"compare": [paths[1]], "gate": ["--max", "mse=1"]}.get(command, [])
    done = run_here(command, *paths, *more, "--tau", "2")
    assert "arcsec" in done.out
    assert "px" not in done.out
