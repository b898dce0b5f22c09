"""The HTML of the page: the blocks that sections are made of, and what writes them, with the template in assets/.

blocks.py has the forms of blocks, and cells.py makes tables of text. document.py writes the page. vega.py bundles the
script that draws charts.
"""
