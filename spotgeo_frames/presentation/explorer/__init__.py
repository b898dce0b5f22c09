"""The explorer: the viewer as a widget of notebooks, which gives rows back.

opening.py has `explore()`, and widget.py what it returns. given.py takes match tables of what it was given; contents.py
numbers their frames and rows, and packs those that are looked at. filters.py and tags.py find rows again by conditions
and by keys, and images.py the pictures behind frames. assets/ has the part of it that runs in the browser.
"""
