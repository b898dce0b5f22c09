"""label_suspects() and write_suspects(): labels that may be wrong, by hand, and as labelling tools take them."""

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import spotgeo_frames as sf
from helpers.kinds import of_kind
from helpers.problems import refused

KINDS = ["unlabelled", "other_class", "twice", "never_found"]


def scene() -> tuple[sf.Annotations, pd.DataFrame]:
    """Labels: 1 is found, 2 is found as another class, 3 and 4 are one object, 5 is lost. A sure claim has no label."""
    columns = {"sequence": 1, "frame": 1, "y": 0.0, "w": 10.0, "h": 10.0}
    truth = pd.DataFrame(
        {"object": range(1, 6), "x": [0.0, 50, 100, 101, 200], "category": ["cat", "dog", *["cat"] * 3]}
    )
    claims = {
        "object": range(1, 6),
        "x": [1.0, 51, 100, 300, 400],
        "category": ["cat", "cat", "cat", "cat", "dog"],
        "score": [0.6, 0.9, 0.7, 0.95, 0.1],
    }
    frames = pd.DataFrame({"sequence": [1], "frame": 1, "width": 500.0, "height": 100.0, "file_name": "a.jpg"})
    return sf.Annotations(truth.assign(**columns), frames), pd.DataFrame(claims).assign(**columns)


def shown(suspects: pd.DataFrame) -> list[tuple[Any, ...]]:
    columns = ["suspicion", "truth_object", "predicted_object", "pair_object"]
    return [tuple(None if pd.isna(one) else one for one in row) for row in suspects[columns].to_numpy(object)]


WANTED = [
    ("unlabelled", None, 4, None),
    ("other_class", None, 2, 2),
    ("twice", 4, None, 3),
    ("never_found", 5, None, None),
]


def test_each_suspicion_by_hand() -> None:
    truth, found = scene()
    for x in (sf.match(truth, found), sf.average_precision(truth, found)):
        suspects = sf.label_suspects(x)
        assert shown(suspects) == WANTED
        assert suspects["suspicion"].cat.categories.tolist() == KINDS
        assert suspects["x"].tolist() == [300.0, 51.0, 101.0, 200.0]
        assert suspects["pair_category"].tolist()[1:3] == ["dog", "cat"]
        assert suspects["file_name"].eq("a.jpg").all()
        assert suspects["look_at"].str.endswith("?").all()


def test_the_score_says_who_is_sure() -> None:
    truth, found = scene()
    matches = sf.match(truth, found)
    assert [row[0] for row in shown(sf.label_suspects(matches, score_threshold=0.05))].count("unlabelled") == 2
    assert "unlabelled" not in [row[0] for row in shown(sf.label_suspects(matches, score_threshold=0.99))]
    unscored = sf.label_suspects(sf.match(truth, found.drop(columns="score")))
    assert "score" not in unscored
    assert unscored["suspicion"].eq("unlabelled").sum() == 2


def test_only_what_no_submission_finds() -> None:
    truth, found = scene()
    other = pd.concat([found, found.head(1).assign(object=9, x=200.0)], ignore_index=True)
    both = {"a": sf.match(truth, found), "b": sf.match(truth, other)}
    suspects = sf.label_suspects(both)
    assert "never_found" not in suspects["suspicion"].tolist()
    assert suspects["submission"].tolist()[:2] == ["a", "b"]
    assert sf.label_suspects({"a": both["a"]})["suspicion"].eq("never_found").sum() == 1


def test_points_and_other_kinds_of_tables() -> None:
    truth, found = scene()
    points = truth._replace(objects=truth.objects.drop(columns=["w", "h"])), found.drop(columns=["w", "h"])
    suspects = sf.label_suspects(sf.match(*points, tau=3))
    assert [row[0] for row in shown(suspects)] == KINDS
    for kind in ("polars", "pyarrow"):
        matches = sf.match(*(of_kind(side, kind) for side in points), tau=3)
        words = {"tau": 3} if kind == "polars" else {}  # it keeps no notes
        assert len(sf.label_suspects(matches, **words)) == len(suspects)


def test_the_viewer_shows_them_as_tags() -> None:
    pytest.importorskip("anywidget")
    truth, found = scene()
    matches = sf.match(truth, found)
    view = sf.explore(matches)
    view.tags = sf.label_suspects(matches).rename(columns={"suspicion": "tag"}).astype({"tag": str})
    assert sorted(view.tags["tag"]) == sorted(KINDS)


def test_label_studio_reads_them_back(tmp_path: Path) -> None:
    truth, found = scene()
    suspects = sf.label_suspects(sf.match(truth, found))
    sf.write_suspects(suspects, tmp_path / "suspects.json")
    [task] = json.loads((tmp_path / "suspects.json").read_text())
    assert task["data"]["image"] == "a.jpg"
    assert [region["meta"]["text"][0].partition(":")[0] for region in task["predictions"][0]["result"]] == KINDS
    back = sf.read_label_studio(tmp_path / "suspects.json", predictions=True).objects
    assert back[["x", "y", "w", "h"]].to_numpy() == pytest.approx(suspects[["x", "y", "w", "h"]].to_numpy())
    assert back["category"].tolist() == ["cat", "cat", "cat", "cat"]


def test_fiftyone_reads_them_back(tmp_path: Path) -> None:
    truth, found = scene()
    suspects = sf.label_suspects(sf.match(truth, found))
    sf.write_suspects(suspects, tmp_path / "samples", "fiftyone")
    back = sf.read_fiftyone(tmp_path / "samples", "suspects").objects
    assert back[["x", "y", "w", "h"]].to_numpy() == pytest.approx(suspects[["x", "y", "w", "h"]].to_numpy())
    [sample] = json.loads((tmp_path / "samples" / "samples.json").read_text())["samples"]
    assert [one["tags"] for one in sample["suspects"]["detections"]] == [[kind] for kind in KINDS]


def test_what_is_refused(tmp_path: Path) -> None:
    truth, found = scene()
    suspects = sf.label_suspects(sf.match(truth, found))
    with refused(("suspects", "w", "to_csv"), ("suspects", "h", "to_csv")):
        sf.write_suspects(suspects.drop(columns=["w", "h"]), tmp_path / "a.json")
    with refused(("suspects", "image_size=")):
        sf.write_suspects(suspects.drop(columns=["width"]), tmp_path / "a.json")
    with pytest.raises(ValueError, match="tool is 'cvat'"):
        sf.write_suspects(suspects, tmp_path / "a.json", "cvat")  # type: ignore[arg-type]
    with refused(("label_suspects", "x is empty")):
        sf.label_suspects({})
    with pytest.raises(ValueError, match="score_threshold is 'high'"):
        sf.label_suspects(sf.match(truth, found), "high")  # type: ignore[arg-type]
    assert not [*tmp_path.iterdir()]
