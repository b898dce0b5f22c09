"""How the code of pages runs: in which folder, and how its charts are shown without scripts from the internet."""

from pathlib import Path

import altair

from spotgeo_frames.presentation.page.html.vega import vega_script

# What each kernel runs first. Notebooks run in their own folder, all other pages where `data` is.
FIRST = '''
import json
import os
import warnings

from IPython import get_ipython

if os.path.basename(os.getcwd()) != "notebooks":
    os.chdir({folder!r})

# A warning is shown without the temporary file that its cell was kept in.
warnings.formatwarning = lambda message, category, *_, **__: f"{{category.__name__}}: {{message}}\\n"


def _chart_of_the_page(chart, **_):
    """A chart of Altair as the description that charts.js draws."""
    description = json.dumps(chart.to_dict()).replace("</", "<\\\\/")
    script = '<script type="application/json">' + description + "</script>"
    return {{"text/html": '<div class="vega-chart">' + script + "<div></div></div>"}}


_bundles = get_ipython().display_formatter.mimebundle_formatter
_bundles.for_type_by_name("altair.vegalite.v{version}.api", "TopLevelMixin", _chart_of_the_page)
'''


def prepare(source: Path) -> None:
    """Writes what kernels run first, and the script that draws charts."""
    profile = source / ".ipython" / "profile_default"
    (profile / "startup").mkdir(parents=True)
    (profile / "ipython_kernel_config.py").write_text("c.IPKernelApp.log_level = 50\n")
    version = altair.SCHEMA_VERSION.removeprefix("v").partition(".")[0]
    (profile / "startup" / "first.py").write_text(FIRST.format(folder=str(source), version=version))
    with vega_script() as script:
        (source / "_static" / "vega.js").write_text(script())


def settings(source: Path) -> dict[str, str]:
    """The environment variables that kernels need."""
    return {"IPYTHONDIR": str(source / ".ipython"), "PYTHONHASHSEED": "0"}
