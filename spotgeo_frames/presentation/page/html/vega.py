"""The library that draws charts, as one script: bundled by a process of its own, and kept for the next report.

To bundle it takes more time than most of a page, and gives the same for each version of Vega-Lite and of vl_convert. So
it is kept in the user's folder of caches, with its digest. A file there is taken only if nobody else can have written
it; without one, and where none can be written, the script is bundled anew.
"""

import hashlib
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from ....support import InputError, writing
from ...drawing.charts import VEGA_LITE

# The program of that process; its argument is the version of Vega-Lite.
BUNDLE = """
import sys, vl_convert
script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", sys.argv[1])
sys.stdout.buffer.write(script.encode())
"""

# The script, once it is there, by the version of Vega-Lite.
BUNDLED: dict[str, str] = {}

# The largest script that is taken from the cache, in bytes.
LARGEST = 16 << 20


@contextmanager
def vega_script() -> Iterator[Callable[[], str]]:
    """Starts to bundle the script unless it is kept; yields a function that waits for the script and returns it.

    The function raises ImportError if the script cannot be bundled.
    """
    version = _version()
    known = BUNDLED.get(version) or _kept(_place(version))
    if known is not None:
        BUNDLED[version] = known
        yield lambda: known
        return
    command = [sys.executable, "-P", "-c", BUNDLE, version]  # -P: import nothing from the current folder
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield lambda: BUNDLED.get(version) or _bundled(process, version)
        finally:
            process.kill()


def _version() -> str:
    """The version of Vega-Lite that charts are written for, or, if vl_convert lacks it, the newest that it has."""
    import vl_convert

    version = VEGA_LITE.rpartition(".")[0]
    known = vl_convert.get_vegalite_versions()
    return version if version in known else known[-1]


def _bundled(process: "subprocess.Popen[bytes]", version: str) -> str:
    """Waits for the process, and keeps the script for this process and for others."""
    script = BUNDLED[version] = _script(process)
    with suppress(OSError, InputError):  # the next report bundles it anew
        place = _place(version)
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        writing.replace_with(place, f"{_digest(script)}\n{script}".encode())
        place.chmod(0o600)  # whatever files of this user are by default
    return script


def _script(process: "subprocess.Popen[bytes]") -> str:
    """Waits for the process and returns the script; raises ImportError if it failed."""
    output, errors = process.communicate()
    if process.returncode:
        reason = errors.decode(errors="replace").strip().rpartition("\n")[2]
        raise ImportError(f"report: vl_convert cannot bundle the chart library: {reason}; install it again")
    # Escaped so that it cannot end its HTML element, and wrapped in a function so that its names stay its own.
    code = output.decode().replace("</script", "<\\/script").replace("<!--", "\\x3c!--")
    return f"(() => {{{code}}})();"


def _place(version: str) -> Path:
    """The file in which the script is kept."""
    from importlib import metadata  # imported here, as it is slow to import

    if os.name == "nt":
        folder = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        folder = "~/Library/Caches"
    else:
        folder = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    name = f"vega-lite-{version}-vl-convert-{metadata.version('vl-convert-python')}.js"
    return Path(os.path.expanduser(folder), "spotgeo_frames", name)


def _kept(place: Path) -> str | None:
    """The script in a file that only this user can have written; None without one, and if it is damaged."""
    try:
        found = place.lstat()
        if not stat.S_ISREG(found.st_mode) or found.st_size > LARGEST or not _is_own(found, place.parent.stat()):
            return None
        digest, _, script = place.read_text("utf-8").partition("\n")
    except (OSError, ValueError):  # there is none, or it is no text
        return None
    return script if digest == _digest(script) else None


def _is_own(*found: os.stat_result) -> bool:
    """Whether files and folders are this user's, and nobody else may write to them; Windows has its own rights."""
    return os.name == "nt" or all(of.st_uid == os.getuid() and not of.st_mode & 0o022 for of in found)


def _digest(script: str) -> str:
    """The digest by which damage shows."""
    return hashlib.sha256(script.encode()).hexdigest()
