"""Vega, Vega-Lite and Vega-Embed as one script for the page.

To put it together takes a second in which nothing else of Python runs, so a process of its own does it meanwhile.
"""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# What the process runs; the version of Vega-Lite is its argument.
BUNDLE = """
import sys, vl_convert
script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", sys.argv[1])
sys.stdout.buffer.write(script.encode())
"""


@contextmanager
def vega_script() -> Iterator[Callable[[], str]]:
    """Begins to make the script; what it gives waits for it and returns it. Raises ImportError where that fails."""
    command = [sys.executable, "-P", "-c", BUNDLE, _version()]  # -P: nothing is imported from the current folder
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            yield lambda: _script(process)
        finally:
            process.kill()


def _version() -> str:
    """The version of Vega-Lite that Altair writes, or the nearest that there is."""
    import altair
    import vl_convert

    version = ".".join(altair.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    known = vl_convert.get_vegalite_versions()
    return version if version in known else known[-1]


def _script(process: "subprocess.Popen[bytes]") -> str:
    made, said = process.communicate()
    if process.returncode:
        why = said.decode(errors="replace").strip().rpartition("\n")[2]
        raise ImportError(f"report: vl_convert cannot put the chart library together: {why}")
    # Nothing in it ends the element it is in, and its many names are its own.
    code = made.decode().replace("</script", "<\\/script").replace("<!--", "\\x3c!--")
    return f"(() => {{{code}}})();"
