"""validate_spotgeo(): all problems of a submission, each with its place."""

import json
from pathlib import Path

import pytest

import spotgeo_frames as sf
from helpers.problems import assert_places, refused
from helpers.scenes import objects


def submission(folder: Path, *entries: tuple[int, int, list]) -> Path:
    document = [{"sequence_id": s, "frame": f, "num_objects": len(c), "object_coords": c} for s, f, c in entries]
    path = folder / "submission.json"
    path.write_text(json.dumps(document))
    return path


def found(*arguments, **options) -> list[str]:
    table = sf.validate_spotgeo(*arguments, **options)
    assert table.columns.tolist() == ["place", "problem"]
    return [f"{place}: {problem}" for place, problem in table.itertuples(index=False, name=None)]


ALL_FIVE = [(1, frame, []) for frame in range(1, 6)]


def test_a_sound_submission(tmp_path: Path) -> None:
    path = submission(tmp_path, (1, 1, [[-0.5, -0.5], [639.5, 479.5]] * 15), *ALL_FIVE[1:])
    assert found(path) == []
    assert found(path, sequences=[1]) == []
    assert found(path, sf.read_spotgeo(path)) == []


def test_bounds_and_counts(tmp_path: Path) -> None:
    path = submission(tmp_path, (1, 1, [[641.2, 1], [1, 480], [-1, -0.6]]), (1, 2, [[1, 1]] * 31), *ALL_FIVE[2:])
    assert_places(
        found(path),
        ("[0].object_coords[0][0]", "641.2", "639.5"),
        ("[0].object_coords[1][1]", "480", "479.5"),
        ("[0].object_coords[2][0]", "-1", "-0.5"),
        ("[0].object_coords[2][1]", "-0.6", "-0.5"),
        ("[1].object_coords", "31", "30"),
    )
    wider = {"x_range": (-1, 1000), "y_range": (-1, 1000), "most_objects": 31}
    assert found(path, **wider) == []


def test_frames_missing_twice_and_not_wanted(tmp_path: Path) -> None:
    path = submission(tmp_path, *ALL_FIVE[1:], (2, 6, []), (1, 2, []))
    twice = ("[5]", "sequence 1, frame 2", "[0]")
    assert_places(found(path, sequences=[1]), twice, ("[4]", "sequence 2, frame 6"), "sequence 1, frame 1")
    table = objects([(1, 2, 0, 0), (2, 6, 0, 0), (3, 1, 0, 0)])
    assert_places(
        found(path, sf.Annotations(table, table[["sequence", "frame"]])),
        twice,
        ("[1]", "sequence 1, frame 3"),
        ("[2]", "sequence 1, frame 4"),
        ("[3]", "sequence 1, frame 5"),
        "sequence 3, frame 1",
    )
    # Without a frames table the truth knows which frames there are at least, and no more.
    assert_places(found(path, table), twice, "sequence 3, frame 1")
    # With neither, every sequence that occurs has to have its frames.
    assert_places(
        found(path, frames_per_sequence=5),
        twice,
        ("[4]", "sequence 2, frame 6"),
        "sequence 1, frame 1",
        *(f"sequence 2, frame {frame}" for frame in range(1, 6)),
    )


def test_a_file_without_frames(tmp_path: Path) -> None:
    path = submission(tmp_path)
    assert_places(found(path, sequences=[3], frames_per_sequence=2), "sequence 3, frame 1", "sequence 3, frame 2")
    assert len(found(path, objects([(1, 1, 0, 0)]))) == 1


def test_problems_of_all_kinds_at_once(tmp_path: Path) -> None:
    path = tmp_path / "submission.json"
    good = {"sequence_id": 1, "frame": 1, "num_objects": 1, "object_coords": [[1, 1]]}
    entries = [good | {"num_objects": "1"}, good | {"frame": True, "object_coords": [[700, "1"]]}, {}, good]
    path.write_text(json.dumps(entries))
    assert_places(
        found(path, frames_per_sequence=1),
        ("[0].num_objects", "'1'"),
        ("[1].frame", "true"),
        ("[1].object_coords[0][0]", "700", "639.5"),
        ("[1].object_coords[0][1]", "'1'"),
        ("[2]", "sequence_id"),
        ("[2]", "frame"),
        ("[2]", "num_objects"),
        ("[2]", "object_coords"),
        ("[3]", "sequence 1, frame 1", "[0]"),
    )


@pytest.mark.parametrize("text", ["", "{", "{}", "[" * 10_000])
def test_what_is_no_list_of_frames(tmp_path: Path, text: str) -> None:
    path = tmp_path / "submission.json"
    path.write_text(text)
    assert len(found(path, sequences=range(1, 5121))) == 1


def test_tables_are_held_to_the_same_limits(tmp_path: Path) -> None:
    path = tmp_path / "submission.parquet"
    rows = [(1, 1, 641.25, 1), (1, 1, 1, 1), (1, 2, 1, -7)] + [(9, 3, 1, 1)] * 31
    objects(rows).to_parquet(path)
    assert_places(
        found(path, sequences=[1]),
        ("sequence 1, frame 1, object 0, x", "641.25", "639.5"),
        ("sequence 1, frame 2, object 0, y", "-7.0", "-0.5"),
        ("sequence 9, frame 3", "31", "30"),
        ("sequence 9, frame 3", "sequence 9, frame 3"),
    )
    with refused(f"{tmp_path / 'no.parquet'}"):
        sf.validate_spotgeo(tmp_path / "no.parquet")


def test_the_sample_is_sound(sample: Path) -> None:
    for name in ("cautious.json", "eager.json", "eager.parquet"):
        assert found(sample / name, sf.read_spotgeo(sample / "truth.json")) == []
        assert found(sample / name, sf.read_objects(sample / "truth.parquet")) == []
