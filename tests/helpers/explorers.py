"""An explorer without a browser: messages as JupyterLab would send them, and what the widget answers and tells."""

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from helpers.packed import read_view
from spotgeo_frames.presentation.viewer.view import View

Message = tuple[dict[str, Any], list[bytes]]


class Browser:
    """The other side of an explorer."""

    def __init__(self, widget: Any):
        self.widget = widget
        self.heard: list[Message] = []
        widget.comm.send = self._hear
        self.asked = 0
        self.outline, content = self.ask("outline")
        about = self.outline["about"] | {"submissions": []}
        self.frames = read_view(View(about, content[0], []))

    @property
    def names(self) -> list[str]:
        return list(self.outline["names"])

    def _hear(self, data: Mapping[str, Any], metadata: object = None, buffers: Any = None) -> None:
        if data["method"] == "custom":
            content = json.loads(json.dumps(data["content"], allow_nan=False))
            self.heard.append((content, [bytes(buffer) for buffer in buffers or []]))

    def ask(self, what: str, **details: Any) -> Message:
        """The answer to what the browser asks."""
        self.asked += 1
        self.send(ask=what, id=self.asked, **details)
        [answer] = [message for message in self.heard if message[0].get("id") == self.asked]
        return answer

    def send(self, **content: Any) -> None:
        data = {"method": "custom", "content": content}
        self.widget._handle_msg({"content": {"data": data}, "buffers": []})

    def told(self, what: str) -> Message:
        """What the widget told last of filter or marks."""
        return [message for message in self.heard if message[0].get("tell") == what][-1]

    def chunk(self, number: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """The view of a chunk, and the position of its first stretch, frame, truth and predictions."""
        content, [array] = self.ask("chunk", chunk=number)
        return read_view(View(content["about"], array, [])), content["first"]

    def passing(self) -> list[tuple[list[int], list[int], list[int]]]:
        """For each match table, the truths, the predictions and the frames that pass the filter."""
        _, buffers = self.told("filter")
        sizes = self.outline["sizes"]
        answer = []
        for place, n_predicted in enumerate(sizes["predicted"]):
            truth, predicted, frames = buffers[3 * place : 3 * place + 3]
            bits = [np.unpackbits(np.frombuffer(array, np.uint8)) for array in (truth, predicted)]
            passing = [
                np.flatnonzero(flags[:n]).tolist() for flags, n in zip(bits, (sizes["truth"], n_predicted), strict=True)
            ]
            answer.append((*passing, np.frombuffer(frames, "<i4").tolist()))
        return answer
