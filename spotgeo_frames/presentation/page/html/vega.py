"""Bundles Vega, Vega-Lite and Vega-Embed into one script for the page.

Bundling takes a second and blocks Python meanwhile, so it happens in another process, in parallel with the evaluation.
Later pages of this process take the script of the first.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# The program of that process; its argument is the version of Vega-Lite.
BUNDLE = """
import sys, vl_convert
script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", sys.argv[1])
sys.stdout.buffer.write(script.encode())
"""

# The script, once it is there, by the version of Vega-Lite.
BUNDLED: dict[str, str] = {}


@contextmanager
def vega_script() -> Iterator[Callable[[], str]]:
    """Starts to bundle the script; yields a function that waits for the script and returns it.

    The function raises ImportError if the script cannot be bundled.
    """
    version = _version()
    if version in BUNDLED:
        yield lambda: BUNDLED[version]
        return
    command = [sys.executable, "-P", "-c", BUNDLE, version]  # -P: import nothing from the current folder
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield lambda: BUNDLED.setdefault(version, _script(process))
        finally:
            process.kill()


def _version() -> str:
    """The version of Vega-Lite that Altair writes, or, if vl_convert lacks it, the newest that it has."""
    import altair
    import vl_convert

    version = ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    known = vl_convert.get_vegalite_versions()
    return version if version in known else known[-1]


def _script(process: "subprocess.Popen[bytes]") -> str:
    """Waits for the process and returns the script; raises ImportError if it failed."""
    output, errors = process.communicate()
    if process.returncode:
        reason = errors.decode(errors="replace").strip().rpartition("\n")[2]
        raise ImportError(f"report: vl_convert cannot bundle the chart library: {reason}; install it again")
    # Escaped so that it cannot end its HTML element, and wrapped in a function so that its names stay its own.
    code = output.decode().replace("</script", "<\\/script").replace("<!--", "\\x3c!--")
    return f"(() => {{{code}}})();"
