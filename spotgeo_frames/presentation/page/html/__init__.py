"""The HTML of the page: the blocks that sections are made of, and what writes them, with the template in assets/.

blocks.py has the forms of blocks, and cells.py makes tables of text. document.py writes the page. vega.py bundles the
script that draws charts.

In assets/, page.js sets up tables.js, charts.js and explorer.js, which joins the viewer with the filter (match_rows.js,
filters.js, filter_form.js), the gallery and the addresses of views (links.js).
"""
