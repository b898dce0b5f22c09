"""The option --video: what the commands write, draw and refuse."""

import tracemalloc  # noqa: F401
