"""What the commands print for programs."""

from collections.abc import Hashable, Mapping
from typing import Any

import msgspec
import pandas as pd

from ..support.names import plain_value


def plain_row(row: Mapping[Hashable, Any]) -> dict[str, Any]:
    return {str(name): plain_value(value) for name, value in row.items()}


def summary_json(summary: pd.DataFrame, by_slice: Mapping[str, pd.DataFrame]) -> str:
    """The summary, and under `by` the slices, as JSON."""
    thresholds = {key: summary.attrs[key] for key in ("tau", "epsilon")}

    def records(table: pd.DataFrame) -> list[dict[str, Any]]:
        rows = table.to_dict("records")
        return [plain_row(row) | thresholds for row in rows]

    [answer] = records(summary)
    if by_slice:
        answer["by"] = {column: records(t.rename(columns={column: "value"})) for column, t in by_slice.items()}
    return formatted(answer)


def formatted(answer: Mapping[str, Any]) -> str:
    return msgspec.json.format(msgspec.json.encode(answer), indent=2).decode()
