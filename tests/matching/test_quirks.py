"""Quirks of matching, against official evaluators: tiny scenes worked out by hand; docs/quirks.md lists them."""

import contextlib
import io

import pandas as pd
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval

import spotgeo_frames as sf

TRUTHS, PREDICTIONS = [0.0, 4.0], [1.0, -2.0]  # left edges of boxes that are 10 x 10
SCORES = [0.9, 0.5]


def boxes(left: list[float]) -> pd.DataFrame:
    return pd.DataFrame({"sequence": 1, "frame": 1, "object": range(1, len(left) + 1), "x": left, "y": 0.0}).assign(
        w=10.0, h=10.0
    )


def found_by_pycocotools() -> list[int]:
    """The results that are matched at an IoU of 0.5."""
    truth, key = COCO(), {"image_id": 1, "category_id": 1}
    truth.dataset = {
        "images": [{"id": 1}],
        "categories": [{"id": 1}],
        "annotations": [
            {**key, "id": number, "bbox": [x, 0.0, 10.0, 10.0], "area": 100.0, "iscrowd": 0}
            for number, x in enumerate(TRUTHS, 1)
        ],
    }
    results = [
        {**key, "bbox": [x, 0.0, 10.0, 10.0], "score": score} for x, score in zip(PREDICTIONS, SCORES, strict=True)
    ]
    with contextlib.redirect_stdout(io.StringIO()):
        truth.createIndex()
        evaluation = COCOeval(truth, truth.loadRes(results), "bbox")
        evaluation.evaluate()
    image = evaluation.evalImgs[0]
    return [name for name, match in zip(image["dtIds"], image["dtMatches"][0], strict=True) if match]


def test_pairs_are_the_best_assignment_and_not_the_first_come() -> None:
    """The higher score overlaps both truths (9/11, 7/13), the lower only the first (8/12).

    pycocotools lets the higher score take the first truth, and nothing is left for the lower. `match` pairs both.
    """
    assert found_by_pycocotools() == [1]
    matches = sf.match(boxes(TRUTHS), boxes(PREDICTIONS).assign(score=SCORES), similarity="iou", threshold=0.5)
    assert matches[["outcome", "truth_object", "predicted_object"]].to_numpy().tolist() == [["TP", 1, 2], ["TP", 2, 1]]
