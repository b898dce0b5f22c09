"""Values as labels: all the digits that tell one from others, and a dash for null."""

from typing import Any

import pandas as pd

DASH = "–"


def label(value: Any) -> str:
    """A value as a name: all the digits that tell it from others, or a dash for null."""
    if pd.isna(value):
        return DASH
    return f"{value:.15g}" if isinstance(value, float) else str(value)
