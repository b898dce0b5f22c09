"""How Sphinx makes the site; `docs/site/build.py` puts its pages together and runs it."""

from spotgeo_frames import __version__

project = "spotgeo_frames"
author = "The spotgeo_frames developers"
project_copyright = author
version = release = __version__

extensions = ["myst_nb"]
myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4
nitpicky = True
toc_object_entries = False

# Every page with code runs anew; `docs/site/kernel.py` says in which folder, and how a chart is shown.
nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_show_tb = True  # a cell that fails is a warning, which ends the build
nb_merge_streams = True
nb_ipywidgets_js = {}  # scripts from the internet; a widget's line of text is shown in its place
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]

html_theme = "pydata_sphinx_theme"
html_title = project
html_favicon = "_static/icon.svg"  # that of the HTML report
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [
    # Without a mode, the theme logs an error on a reader's first visit. The theme has a setting for this,
    # `default_mode`, but that takes away all colours where scripts are off.
    (None, {"body": "document.documentElement.dataset.mode ||= 'auto';"}),
    ("charts.js", {"defer": "defer"}),
]
html_sidebars = {page: [] for page in ("index", "gallery", "search", "genindex")}
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # pages opened from disk must not read others
html_theme_options = {
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
    "navigation_with_keys": False,
}
