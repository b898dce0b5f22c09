"""MOTS' text: tracks of masks, with the numbers of trackeval's KITTI MOTS."""

import json
from pathlib import Path

import numpy as np
import pytest
from pycocotools import mask as coder
from trackeval.datasets import KittiMOTS
from trackeval.metrics import CLEAR, HOTA, Identity

import spotgeo_frames as sf
from helpers.commands import run_here
from helpers.label_files import folder_of

HEIGHT, WIDTH, N_FRAMES = 40, 60, 12


def ellipse(x: float, y: float, across: float, down: float) -> np.ndarray:
    rows, columns = np.mgrid[:HEIGHT, :WIDTH]
    return ((columns - x) / across) ** 2 + ((rows - y) / down) ** 2 < 1


def line(frame: int, identity: int, of_class: int, image: np.ndarray) -> str:
    text = coder.encode(np.asfortranarray(image.astype(np.uint8)))["counts"].decode()
    return f"{frame} {identity} {of_class} {HEIGHT} {WIDTH} {text}"


def folders(path: Path, seed: int = 3) -> tuple[Path, Path]:
    """A truth of pedestrians and a region, and a tracker that loses, exchanges and invents some."""
    random = np.random.default_rng(seed)
    truth, found = [], []
    region = ellipse(50, 5, 12, 6)
    for frame in range(N_FRAMES):
        taken = np.zeros((HEIGHT, WIDTH), bool)
        claimed = taken.copy()
        truth.append(line(frame, 10000, 10, region))
        taken |= region
        for one in range(4):
            x, y = 8 + 3 * one + 2.5 * frame, 9 + 8 * one
            image = ellipse(x, y, 5, 4) & ~taken
            taken |= image
            if image.any():
                truth.append(line(frame, 2000 + one, 2, image))
            if random.random() < 0.8:
                off = random.normal(0, 1, 2)
                image = ellipse(x + off[0], y + off[1], 5, 4) & ~claimed
                claimed |= image
                exchanged = one ^ 1 if frame > 7 else one
                if image.any():
                    found.append(line(frame, 2100 + exchanged, 2, image))
        false = ellipse(50 + random.normal(), 5, 3, 3) & ~claimed  # in the region
        found.append(line(frame, 2999, 2, false))
    folder_of(path / "gt" / "label_02", **{"0002": "\n".join(truth)})
    folder_of(path / "trackers" / "ours" / "data", **{"0002": "\n".join(found)})
    return path / "gt" / "label_02", path / "trackers" / "ours" / "data"


def test_tracks_of_masks_have_the_numbers_of_trackeval(tmp_path: Path) -> None:
    gt, tracker = folders(tmp_path)
    dataset = KittiMOTS(
        {
            "GT_FOLDER": str(tmp_path / "gt"),
            "TRACKERS_FOLDER": str(tmp_path / "trackers"),
            "CLASSES_TO_EVAL": ["pedestrian"],
            "SEQ_INFO": {"0002": N_FRAMES},
            "PRINT_CONFIG": False,
        }
    )
    raw = dataset.get_raw_seq_data("ours", "0002")
    data = dataset.get_preprocessed_seq_data(raw, "pedestrian")
    quiet = {"PRINT_CONFIG": False}
    hota, clear, identity = (
        HOTA().eval_sequence(data),
        CLEAR(quiet).eval_sequence(data),
        Identity(quiet).eval_sequence(data),
    )
    truth, found = sf.read_mots(gt), sf.read_mots(tracker)
    result = sf.track(truth, found._replace(objects=found.objects.drop(columns="crowd")))
    combined = result.summary.iloc[-1]
    for name in ("HOTA", "DetA", "AssA", "LocA"):
        assert combined[name] == pytest.approx(np.mean(hota[name]), abs=1e-12)
    for name, key in (
        ("MOTA", "MOTA"),
        ("MOTP", "MOTP"),
        ("IDSW", "IDSW"),
        ("TP", "CLR_TP"),
        ("FN", "CLR_FN"),
        ("FP", "CLR_FP"),
    ):
        assert combined[name] == pytest.approx(clear[key], abs=1e-12)
    assert combined["IDF1"] == pytest.approx(identity["IDF1"], abs=1e-12)
    assert 0 < combined["HOTA"] < 1


def test_the_layout_of_motschallenge(tmp_path: Path) -> None:
    image = ellipse(20, 20, 5, 5)
    folder_of(tmp_path / "MOTS20-02" / "gt", gt="\n".join([line(2, 2001, 2, image), line(1, 1, 1, image)]))
    read = sf.read_mots(tmp_path)
    assert read.objects[["sequence", "frame", "object", "category"]].to_numpy().tolist() == [
        ["MOTS20-02", 1, 1, "car"],
        ["MOTS20-02", 2, 2001, "pedestrian"],
    ]
    assert read.frames is None
    assert not read.objects["crowd"].any()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("0 1 2 4 6", "an object has"),
        ("0 1 3 4 6 H", "class 3"),
        ("-1 1 2 4 6 H", "frame -1"),
        ("0 1.5 2 4 6 H", "id 1.5"),
        ("0 1 2 4 6 T", "within a number"),
        ("0 1 2 4 6 1", "as many pixels"),
        ("0 1 2 x 6 1", "x"),
    ],
)
def test_lines_that_are_wrong(text: str, problem: str, tmp_path: Path) -> None:
    good = line(0, 7, 2, ellipse(20, 20, 5, 5))
    with pytest.raises(sf.InputError, match=rf"0002\.txt, line 2.*{problem}"):
        sf.read_mots(folder_of(tmp_path / "a", **{"0002": f"{good}\n{text}"}))


def test_the_content_tells_the_format(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    truth, tracker = folders(tmp_path / "kitti")
    challenge = tmp_path / "challenge/MOTS20-02/gt/gt.txt"
    challenge.parent.mkdir(parents=True)
    challenge.write_bytes(next(iter(sorted(truth.glob("*.txt")))).read_bytes())
    for path in (truth, tracker, tmp_path / "challenge"):
        assert "mask" in sf.read(path).objects
    assert capsys.readouterr().out.count("read_mots") == 3
    done = run_here("track", truth, tracker, "--json")
    assert json.loads(done.out)["combined"]["TP"] > 0
