"""Quirks of the readers of official evaluators: tiny files worked out by hand; docs/quirks.md lists them."""

from pathlib import Path

import spotgeo_frames as sf
from helpers.problems import refused

TRUTH = "1,1,10,10,20,40,1,1,1\n"
CLAIM = "1,7,10,10,20,40,0.9,-1,-1,-1\n"


def motchallenge(folder: Path, truth: str = TRUTH, claims: str = CLAIM) -> tuple[Path, Path]:
    """A folder of truth and one of a tracker, of one sequence called A."""
    sides = folder / "truth", folder / "tracker"
    for side, text in zip(sides, (truth, claims), strict=True):
        side.mkdir()
        (side / "A.txt").write_text(text)
    return sides


def test_negative_identities_are_names(tmp_path: Path) -> None:
    """trackeval takes -1 for the last position of a table, so that two tracks can become one."""
    claims = CLAIM.replace("1,7", "1,-1") + CLAIM.replace("1,7,10", "1,3,80")
    truth, predictions = sf.read_motchallenge(*motchallenge(tmp_path, claims=claims))
    assert predictions.objects["object"].tolist() == [-1, 3]
    assert sf.track(truth, predictions).predicted_objects["object"].tolist() == [-1, 3]


def test_unknown_classes_are_refused_in_frames_without_predictions(tmp_path: Path) -> None:
    """trackeval looks at the classes of frames with predictions only."""
    folders = motchallenge(tmp_path, TRUTH + TRUTH.replace("1,1,10", "2,1,10").replace(",1,1,1\n", ",1,14,1\n"))
    with refused((f"{folders[0] / 'A.txt'}, line 2", "class 14")):
        sf.read_motchallenge(*folders)
