"""Python in a process of its own that may not use more than so much memory, or so many processes."""

import os
import resource
import subprocess
import sys
from pathlib import Path

from helpers.reference import PROJECT


def run_limited(
    code: str, *, megabytes: int | None = None, cwd: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs code in a process whose address space is limited.

    It runs on one thread, so that stacks take none of the space, and Arrow takes its memory from the system, since its
    own allocator reserves a GiB of addresses before anything is in it.
    """

    def limit() -> None:
        if megabytes is not None:
            resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "ARROW_IO_THREADS"), "1")
    environment = {**os.environ, **one_thread, "ARROW_DEFAULT_MEMORY_POOL": "system", "PYTHONPATH": str(PROJECT)}
    return subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        cwd=cwd,
        env=environment,
        preexec_fn=limit,
    )
