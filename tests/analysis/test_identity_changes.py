"""Where identities broke: switches and gaps, by hand, against a plain loop, and as many as CLEAR counts."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spotgeo_frames as sf
from helpers.boxes import crowd
from helpers.kinds import of_kind
from helpers.problems import refused
from helpers.reference import PROJECT

# Who is where in frames 1, 2, ...: for each truth a digit, the identity that finds it; - where it is missed, and a
# space where there is no such truth. Under "", identities that find no truth.
Scene = Mapping[str, str]
COLUMNS = ["frame", "truth_object", "break", "predicted_before", "predicted_after", "taken_by", "gap", "nearest_truth"]

# By hand, truths 100 px apart from the next: a scene, and the columns of its breaks.
SCENES: dict[str, tuple[Scene, list[tuple[Any, ...]]]] = {
    "nothing breaks": ({"A": "111", "B": " 22"}, []),
    "two are exchanged": (
        {"A": "112", "B": "221"},
        [(3, "A", "switch", 1, 2, "B", 0, 100), (3, "B", "switch", 2, 1, "A", 0, 100)],
    ),
    "a new identity": ({"A": "1133"}, [(3, "A", "switch", 1, 3, None, 0, None)]),
    "the identity before finds nothing now": ({"A": "12", "": " 1"}, [(2, "A", "switch", 1, 2, None, 0, None)]),
    "lost and found": ({"A": "1--1"}, [(2, "A", "gap", 1, 1, None, 2, None)]),
    "lost, and found by another": (
        {"A": "1-2"},
        [(2, "A", "gap", 1, 2, None, 1, None), (3, "A", "switch", 1, 2, None, 1, None)],
    ),
    "lent meanwhile": (
        {"A": "1-1", "B": "212"},
        [
            (2, "A", "gap", 1, 1, "B", 1, 100),
            (2, "B", "switch", 2, 1, None, 0, 100),
            (3, "B", "switch", 1, 2, "A", 0, 100),
        ],
    ),
    "away, and back as the same": ({"A": "1 1"}, []),
    "away, and back as another": ({"A": "1 2"}, [(3, "A", "switch", 1, 2, None, 0, None)]),
    "missed before and after it was away": ({"A": "1- -1"}, [(2, "A", "gap", 1, 1, None, 2, None)]),
    "never found before or after": ({"A": "-1-", "B": "---"}, []),
    "two gaps": ({"A": "1-1--1"}, [(2, "A", "gap", 1, 1, None, 1, None), (4, "A", "gap", 1, 1, None, 2, None)]),
    "the nearest of several": ({"A": "11", " B": "22", "C": "34"}, [(2, "C", "switch", 3, 4, None, 0, 100)]),
}


def sides(scene: Scene, sequence: Any = 1) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Truth and predictions of a scene, each prediction 1 px from its truth."""
    rows = [
        (sequence, frame, name.strip(), who, 100.0 * place)
        for place, (name, frames) in enumerate(scene.items())
        for frame, who in enumerate(frames, start=1)
        if who != " "
    ]
    table = pd.DataFrame(rows, columns=["sequence", "frame", "object", "who", "x"]).assign(y=5.0)
    truth = table[table["object"] != ""].drop(columns="who")
    found = table[table["who"] != "-"]
    found = found.assign(object=found["who"].astype("int64"), x=found["x"] + 1).drop(columns="who")
    return truth.reset_index(drop=True), found.reset_index(drop=True)


def rows_of(breaks: pd.DataFrame) -> list[tuple[Any, ...]]:
    return [*map(without_nulls, breaks[COLUMNS].astype("object").to_numpy())]


def without_nulls(row: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(None if pd.isna(value) else value for value in row)


@pytest.mark.parametrize("name", SCENES)
def test_scenes(name: str) -> None:
    scene, expected = SCENES[name]
    result = sf.track(*sides(scene))
    breaks = sf.identity_breaks(result)
    assert rows_of(breaks) == expected
    assert breaks["similarity"].tolist() == pytest.approx([0.95] * len(expected))  # 1 px of 2 tau
    assert (breaks["break"] == "switch").sum() == result.summary["IDSW"].iloc[-1]


@pytest.mark.parametrize("name", SCENES)
def test_scenes_with_other_identities(name: str) -> None:
    """Strings for integers, integers for strings, and both in a column of another name."""
    scene, expected = SCENES[name]
    truth, found = sides(scene)
    truth = truth.assign(object=truth["object"].map(ord))
    found = found.assign(object="person " + found["object"].astype("str"))
    breaks = sf.identity_breaks(sf.track(truth, found).matches)
    assert breaks["truth_object"].tolist() == [ord(row[1]) for row in expected]
    assert breaks["predicted_before"].tolist() == [f"person {row[3]}" for row in expected]
    assert [None if pd.isna(by) else chr(by) for by in breaks["taken_by"]] == [row[5] for row in expected]

    # `object` counts the rows of each frame; the order of rows decides nothing.
    both = [
        side.assign(track=side["object"], object=side.groupby("frame").cumcount())
        for side in (truth.sample(frac=1, random_state=1), found)
    ]
    by_track = sf.track(*both, identity="track")
    assert {*rows_of(sf.identity_breaks(by_track))} == {*rows_of(breaks)}
    assert "truth_track" in sf.identity_breaks(by_track)


@pytest.mark.parametrize("kind", ["int64", "int32", "uint16", "Int64"])
def test_identities_of_another_column_stay_integers(kind: str) -> None:
    truth, found = sides({"A": "11-2"})
    columns = {"track": pd.array([7] * len(truth), dtype=kind)}
    found = found.assign(track=pd.array([1, 1, 2], dtype=kind))
    result = sf.track(truth.assign(**columns), found, identity="track")
    assert result.matches[["truth_track", "predicted_track"]].dtypes.eq("Int64").all()
    breaks = sf.identity_breaks(result)
    names = ["truth_object", "predicted_before", "predicted_after", "taken_by"]
    assert breaks[names].dtypes.eq("Int64").all()
    assert breaks[names[:3]].to_numpy().tolist() == [[7, 1, 2], [7, 1, 2]]
    assert sf.object_summary(result.matches)["object"].dtype == "Int64"


def test_the_frame_before_a_break_has_the_similarity() -> None:
    truth, found = sides({"A": "11-2"})
    found["x"] += [0.0, 3.0, 0.0]
    assert sf.identity_breaks(sf.track(truth, found))["similarity"].tolist() == [0.8, 0.8]


def test_boxes_are_as_near_as_their_centres() -> None:
    truth, found = (side.assign(w=20.0, h=20.0) for side in sides({"A": "12", "B": "33"}))
    truth.loc[truth["object"] == "B", "w"] = 60.0
    breaks = sf.identity_breaks(sf.track(truth, found, similarity="point"))
    assert breaks["nearest_truth"].tolist() == [120]


def test_gaps_and_fragmentations() -> None:
    """Frag also counts truths that were away; it skips frames without any prediction."""
    for scene, n_gaps, n_fragmentations in (
        ({"A": "1-1", "B": "222"}, 1, 1),
        ({"A": "1 1", "B": "222"}, 0, 1),
        ({"A": "1-1", "B": "2-2"}, 2, 0),
    ):
        result = sf.track(*sides(scene))
        assert len(sf.identity_breaks(result)) == n_gaps
        assert result.summary["Frag"].iloc[-1] == n_fragmentations


def skeletons(scenes: Mapping[str, Scene]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The scenes of several joints, one below the other."""
    by_joint = [
        [side.assign(joint=joint, y=1000.0 * place) for side in sides(scene)]
        for place, (joint, scene) in enumerate(scenes.items())
    ]
    truth, found = (pd.concat(side, ignore_index=True) for side in zip(*by_joint, strict=True))
    return truth.assign(head_size=20.0), found.assign(score=1.0)


def test_joints_break_each_on_its_own() -> None:
    scenes: dict[str, Scene] = {"nose": {"A": "1121", "B": "2212"}, "neck": {"A": "1-1 1", "B": "222 2"}}
    breaks = sf.identity_breaks(sf.pose(*skeletons(scenes)))
    assert breaks.columns[:4].tolist() == ["sequence", "frame", "joint", "truth_object"]
    assert breaks["joint"].tolist() == ["neck", "nose", "nose", "nose", "nose"]
    assert rows_of(breaks[breaks["joint"] == "nose"]) == [
        (3, "A", "switch", 1, 2, "B", 0, 100),
        (3, "B", "switch", 2, 1, "A", 0, 100),
        (4, "A", "switch", 2, 1, "B", 0, 100),
        (4, "B", "switch", 1, 2, "A", 0, 100),
    ]
    assert rows_of(breaks[breaks["joint"] == "neck"]) == [(2, "A", "gap", 1, 1, None, 1, 100)]


def test_poseval_leaves_out_the_last_frame() -> None:
    result = sf.pose(*skeletons({"nose": {"A": "121"}}))
    breaks = sf.identity_breaks(result)
    assert breaks["frame"].tolist() == [2, 3] == result.matches.query("event == 'switch'")["frame"].tolist()
    assert result.summary["switches"].iloc[-1] == 1


def loop(matches: pd.DataFrame) -> list[tuple[Any, ...]]:
    """The breaks as the docstring has them, truth by truth and frame by frame."""
    matches = matches[matches["truth_object"].notna()]
    breaks = []
    for (sequence, name), own in matches.groupby(["sequence", "truth_object"]):
        last, missed = None, []
        for row in own.sort_values("frame").to_dict("records"):
            if row["outcome"] == "FN":
                missed.append(row)
                continue
            if last is not None:
                found = [(missed[0], "gap")] if missed else []
                found += [(row, "switch")] if row["predicted_object"] != last["predicted_object"] else []
                for at, kind in found:
                    here = matches[(matches["sequence"] == sequence) & (matches["frame"] == at["frame"])]
                    others = here[here["truth_object"] != name]
                    takes = others[others["predicted_object"] == last["predicted_object"]]["truth_object"].tolist()
                    far = np.hypot(others["truth_x"] - at["truth_x"], others["truth_y"] - at["truth_y"])
                    identities = last["predicted_object"], row["predicted_object"], *(takes or [None])
                    near = round(far.min(), 9) if len(far) else None
                    numbers = len(missed), near, round(last["similarity"], 9)
                    breaks.append((sequence, at["frame"], name, kind, *identities, *numbers))
            last, missed = row, []
    return sorted(breaks, key=lambda row: row[:4])


@settings(max_examples=15)
@given(st.integers(0, 10_000))
def test_breaks_as_a_loop_has_them(seed: int) -> None:
    random = np.random.default_rng(seed)
    parts = [crowd(random, 12, int(random.integers(1, 7)), 12)[:2] for _ in range(2)]
    truth, found = (
        pd.concat([side.assign(sequence=number) for number, side in enumerate(some)]).drop(columns=["w", "h"])
        for some in zip(*parts, strict=True)
    )
    result = sf.track(truth, found, tau=4)
    breaks = sf.identity_breaks(result.matches.sample(frac=1, random_state=seed))
    assert breaks[["sequence", "frame"]].apply(tuple, axis=1).is_monotonic_increasing
    rounded = breaks.round({"nearest_truth": 9, "similarity": 9})[["sequence", *COLUMNS, "similarity"]]
    assert sorted(map(without_nulls, rounded.astype("object").to_numpy()), key=lambda row: row[:4]) == loop(
        result.matches
    )
    n_switches = [(breaks[breaks["sequence"] == number]["break"] == "switch").sum() for number in range(2)]
    assert n_switches == result.summary["IDSW"].tolist()[:-1]


def test_identities_cut_every_30_frames() -> None:
    """Nine walkers in each of three sequences of 100 frames: each is cut three times, and nobody takes over."""
    random = np.random.default_rng(0)
    frame, walker = (part.ravel() for part in np.mgrid[1:101, 0:9])
    truth = pd.concat(
        pd.DataFrame({"sequence": f"MADE-{number}", "frame": frame, "object": walker, "x": 150.0 * walker})
        for number in range(3)
    ).assign(y=lambda rows: rows["frame"] * 2.0, w=50.0, h=120.0)
    tracker = truth.assign(x=truth["x"] + random.normal(0, 2, len(truth)))
    assert len(sf.identity_breaks(sf.track(truth, tracker))) == 0
    cut = sf.track(truth, tracker.assign(object=tracker["object"] + 100 * (tracker["frame"] // 30)))
    breaks = sf.identity_breaks(cut)
    assert len(breaks) == cut.summary["IDSW"].iloc[-1] == 3 * 9 * 3
    assert (breaks["break"] == "switch").all()
    assert {*breaks["frame"]} == {30, 60, 90}
    assert breaks["taken_by"].isna().all()
    assert (breaks["predicted_after"] - breaks["predicted_before"]).eq(100).all()


def test_real_trackers(mot17) -> None:
    sides = sf.read_motchallenge(mot17 / "gt", mot17 / "trackers" / "tracker_a" / "data")
    result = sf.track(*sides)
    breaks = sf.identity_breaks(result)
    n_switches = breaks[breaks["break"] == "switch"].groupby("sequence").size()
    assert n_switches.tolist() == result.summary["IDSW"].tolist()[:-1]


# --- objects through time ---


def test_objects_count_their_switches() -> None:
    truth, found = sides({"A": "1121", "B": "22-2", "C": "3 34"})
    tracked = sf.track(truth, found)
    summary = sf.object_summary(tracked.matches)
    assert summary["n_switches"].tolist() == [2, 0, 1] == tracked.truth_objects["n_switches"].tolist()
    assert summary["pattern"].tolist() == ["1111", "1101", "111"]
    assert "n_switches" not in sf.object_summary(sf.match(truth, found))
    both = [side.assign(person=side["object"], object=side.groupby("frame").cumcount()) for side in (truth, found)]
    by_person = sf.track(*both, identity="person").matches
    assert sf.object_summary(by_person)[["object", "n_switches"]].equals(summary[["object", "n_switches"]])
    bare = sf.object_summary(pl.from_pandas(by_person), identity="person")
    assert bare["n_switches"].to_list() == [2, 0, 1]
    with refused(("object_summary: matches", "truth_face", "predicted_face")):
        sf.object_summary(by_person, identity="face")
    by_joint = sf.object_summary(sf.pose(*skeletons({"nose": {"A": "12"}, "neck": {"A": "11"}})).matches)
    assert by_joint["n_switches"].tolist() == [0, 1]


# --- what goes in, and what is refused ---


def test_breaks_are_sliced_by_what_the_truth_and_its_sequence_carry() -> None:
    truth, found = sides({"A": "12", "B": "34", "C": "55"})
    truth = truth.assign(category=truth["object"].map({"A": "car", "B": "bus", "C": "car"}), visibility=0.5)
    found = found.assign(category=found["object"].map({1: "car", 2: "car", 3: "bus", 4: "bus", 5: "car"}))
    weather = pd.DataFrame({"sequence": [1], "weather": ["rain"]})
    sky = pd.DataFrame({"sequence": 1, "frame": [1, 2], "sky": ["dark", "light"]})
    breaks = sf.identity_breaks(sf.track(sf.Annotations(truth, sky, weather), found))
    by = ["category", "truth_visibility", "frame_sky", "sequence_weather"]
    assert breaks.groupby(by).size().to_dict() == {("bus", 0.5, "light", "rain"): 1, ("car", 0.5, "light", "rain"): 1}
    assert breaks.attrs["identity"] == "object"
    assert not [name for name in breaks if name.startswith("predicted_") and name[10:] not in ("before", "after")]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_a_result_and_its_table_have_the_same_breaks(kind: str) -> None:
    result = sf.track(*of_kind(sides({"A": "1-21", "B": "2212"}), kind))
    whole, table = sf.identity_breaks(result), sf.identity_breaks(result.matches)
    assert type(whole) is type(table) is type(result.matches)
    assert whole.equals(table)


def test_tables_without_rows_have_no_breaks() -> None:
    truth, found = sides({"A": "12"})
    breaks = sf.identity_breaks(sf.track(truth, found))
    for empty in (
        sf.track(truth, found.head(0)),
        sf.track(truth.head(0), found),
        sf.track(truth.head(1), found.head(1)),
        sf.track(truth, found).matches.head(0),
    ):
        none = sf.identity_breaks(empty)
        assert len(none) == 0
        assert none.columns.tolist() == breaks.columns.tolist()
    assert sf.identity_breaks(sf.track(truth, found).matches.head(0)).dtypes.equals(breaks.dtypes)


def test_what_identity_breaks_refuses() -> None:
    truth, found = sides({"A": "1-21", "B": "2212"})
    matches = sf.track(truth, found).matches
    with refused(("identity_breaks: matches: column event", "track()", "pose()")):
        sf.identity_breaks(sf.match(truth, found))
    with refused(("identity_breaks: matches: column similarity", "track()")):
        sf.identity_breaks(matches.rename(columns={"similarity": "distance"}))
    for column in ("truth_object", "predicted_object"):
        with refused(f"identity_breaks: matches: column {column}"):
            sf.identity_breaks(matches.rename(columns={column: "other"}))
    with refused("match table: column truth_x"):
        sf.identity_breaks(matches.drop(columns="truth_x"))
    with refused(("identity_breaks: matches: column truth_object", "more than once")):
        sf.identity_breaks(pd.concat([matches, matches]))
    with refused(("identity_breaks: matches: column event", "all rows of each sequence", "sequence 1, frame 3")):
        sf.identity_breaks(matches[matches["frame"] >= 3])
    with refused(("identity_breaks: matches", "truth_person", "predicted_person")):
        sf.identity_breaks(matches, identity="person")
    with refused(("identity_breaks: matches: is of type", "list")):
        sf.identity_breaks([1])  # type: ignore[arg-type]


def test_a_table_that_lost_its_notes_is_given_the_identity() -> None:
    truth, found = (
        side.assign(track=side["object"], object=side.groupby("frame").cumcount())
        for side in sides({"A": "112", "B": "221"})
    )
    expected = sf.identity_breaks(sf.track(truth, found, identity="track"))
    assert expected["truth_object"].tolist() == ["A", "B"]
    lost = sf.track(pl.from_pandas(truth), pl.from_pandas(found), identity="track")
    with refused(("identity_breaks: matches: column event", "truth_object", "identity", "sequence 1, frame 3")):
        sf.identity_breaks(lost)
    breaks = sf.identity_breaks(lost, identity="track")
    assert breaks["truth_object"].to_list() == ["A", "B"]
    assert breaks["taken_by"].to_list() == ["B", "A"]


def test_the_samples() -> None:
    tracks = sf.read_motchallenge(PROJECT / "data/tracks/truth", PROJECT / "data/tracks/tracker")
    result = sf.track(*tracks)
    kinds = sf.identity_breaks(result)["break"].value_counts()
    assert kinds["switch"] == result.summary["IDSW"].iloc[-1] > 0
