"""The code of docs/training_loops.md runs as it is written, where its packages are installed."""

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from helpers.reference import PROJECT

PAGE = (PROJECT / "docs" / "training_loops.md").read_text()
CODE = {
    part.partition("\n")[0]: "\n".join(re.findall(r"```python\n(.*?)```", part, re.DOTALL))
    for part in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]
}

# A torchvision-like model and its data: eight frames of two videos, in each of which one of two boxes is found.
DATA = """
import torch

class Model(torch.nn.Module):
    def forward(self, images):
        boxes = torch.tensor([[10.0, 10.0, 30.0, 30.0], [50.0, 50.0, 80.0, 80.0], [0.0, 0.0, 5.0, 5.0]])
        output = {"boxes": boxes, "labels": torch.tensor([1, 2, 1]), "scores": torch.tensor([0.9, 0.8, 0.1])}
        return [output for _ in images]

def frame(number):
    target = {"video": f"video {number % 2}", "frame": number // 2}
    target["boxes"] = torch.tensor([[11.0, 10.0, 31.0, 30.0], [50.0, 50.0, 80.0, 80.0]])
    return torch.zeros(3, 8, 8), target | {"labels": torch.tensor([1, 1])}

def loader_of(numbers):
    pairs = [frame(number) for number in numbers]
    return torch.utils.data.DataLoader(pairs, batch_size=3, collate_fn=lambda pairs: tuple(zip(*pairs)))

model, device, loader = Model(), torch.device("cpu"), loader_of(range(8))
"""

# What comes of it: of each frame one box is found, one has another class, and one alarm is false.
EXPECTED = {"tp": 8, "fn": 8, "fp": 8, "n_sequences": 2, "n_frames": 8, "f1": 0.5}


def ran(tmp_path: Path, code: str, *command: str) -> str:
    """What the code prints, in a process of its own."""
    (tmp_path / "loop.py").write_text(code)
    known = {**os.environ, "PYTHONPATH": str(PROJECT), "YOLO_CONFIG_DIR": str(tmp_path), "YOLO_OFFLINE": "true"}
    words = [sys.executable, *command, "loop.py"]
    done = subprocess.run(words, cwd=tmp_path, env=known, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def summary_of(tmp_path: Path, code: str, *command: str) -> dict[str, object]:
    """The summary that the code ends with."""
    ran(tmp_path, f"{code}\nsummary.to_pickle('summary.pickle')\n", *command)
    [row] = pd.read_pickle(tmp_path / "summary.pickle").to_dict("records")
    return row


def need(*modules: str) -> None:
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError as error:
            pytest.skip(f"{module} cannot be imported: {error}")


def test_all_code_is_run() -> None:
    sections = ["A batch", "Tracks", "Average precision", "PyTorch", "Several processes", "Lightning", "Ultralytics"]
    assert [name for name, code in CODE.items() if code] == sections


def test_arrays(tmp_path: Path) -> None:
    row = summary_of(tmp_path, CODE["A batch"])
    assert (row["tp"], row["fn"], row["n_sequences"], row["n_frames"]) == (400, 100, 20, 100)


def test_tracks(tmp_path: Path) -> None:
    row = summary_of(tmp_path, f"{CODE['A batch']}\n{CODE['Tracks']}\nsummary = scores.compute().tail(1)")
    assert (row["IDSW"], row["n_truth_objects"], row["n_frames"]) == (0, 3, 100)
    assert 0.8 < row["HOTA"] < 1


def test_average_precision(tmp_path: Path) -> None:
    row = summary_of(tmp_path, f"{CODE['A batch']}\n{CODE['Average precision']}\nsummary = precision.summary")
    assert (row["n_truth"], row["n_predicted"], row["n_frames"]) == (250, 250, 50)
    assert 0.3 < row["AP"] < row["AP50"] <= 1


def test_pytorch(tmp_path: Path) -> None:
    need("torch")
    row = summary_of(tmp_path, DATA + CODE["PyTorch"])
    assert {name: row[name] for name in EXPECTED} == EXPECTED


def test_several_processes(tmp_path: Path) -> None:
    """Two processes, each with every other frame; both end with the whole."""
    need("torch")
    train = CODE["PyTorch"].partition("\nfor epoch")[0]
    code = f"""{DATA}\n{train}\n{CODE["Several processes"]}
dist.init_process_group("gloo")
rank, world_size = dist.get_rank(), dist.get_world_size()
validate(model, loader_of(range(rank, 8, world_size)), device)
summary = merged(scores).compute()
summary.to_pickle(f"{{rank}}.pickle")
dist.destroy_process_group()
"""
    ran(tmp_path, code, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    for rank in range(2):
        [row] = pd.read_pickle(tmp_path / f"{rank}.pickle").to_dict("records")
        assert {name: row[name] for name in EXPECTED} == EXPECTED


def test_lightning(tmp_path: Path) -> None:
    need("torch", "lightning")
    module = """
import lightning

class Module(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.model = Model()

    def validation_step(self, batch, batch_idx):
        return self.model(batch[0])

options = {"accelerator": "cpu", "logger": False, "enable_checkpointing": False, "enable_progress_bar": False}
module = Module()
"""
    printed = "\nprint({name: float(value) for name, value in trainer.callback_metrics.items()})"
    shown = ran(tmp_path, DATA + module + CODE["Lightning"] + printed)
    assert "{'val/precision': 0.5, 'val/recall': 0.5, 'val/f1': 0.5}" in shown


def test_ultralytics(tmp_path: Path) -> None:
    need("torch", "ultralytics")
    made = """
import numpy as np
from pathlib import Path
from PIL import Image
from ultralytics import YOLO

random = np.random.default_rng(0)
for folder in ("images/val", "labels/val"):
    Path(folder).mkdir(parents=True)
for number in range(4):
    Image.fromarray(random.integers(0, 255, (64, 96, 3), dtype=np.uint8)).save(f"images/val/{number:03}.jpg")
    Path(f"labels/val/{number:03}.txt").write_text("" if number == 2 else "3 0.5 0.5 0.5 0.25\\n1 0.25 0.25 0.1 0.2\\n")
names = "".join(f"\\n  {number}: class{number}" for number in range(80))
Path("data.yaml").write_text(f"path: {Path.cwd()}\\ntrain: images/val\\nval: images/val\\nnames:{names}\\n")
YOLO("yolov8n.yaml").save("best.pt")
"""
    row = summary_of(tmp_path, made + CODE["Ultralytics"])
    assert (row["n_sequences"], row["n_frames"], row["n_truth"]) == (4, 4, 6)
