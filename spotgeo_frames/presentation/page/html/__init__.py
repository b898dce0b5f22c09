"""The HTML of the page: the blocks that sections are made of, and what writes them, with the template in assets/.

blocks.py has the forms of blocks, and makes tables of text. document.py writes the page, notes.py the note of its
author, and vega.py bundles the script that draws charts, and keeps it.

In assets/, page.js sets up tables (tables.js), charts (charts.js) and the section of frames (frames_section.js). That
section joins the viewer with the filter (match_rows.js, filters.js, filter_form.js), the patches of rows
(patch_rows.js), the gallery (gallery.js) and the addresses of views (links.js).
"""
