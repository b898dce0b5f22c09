"""The explorer: the viewer as a widget of notebooks, which gives rows back.

opening.py has `explore()`, and widget.py what it returns. given.py takes match tables out of what it was given,
contents.py numbers their frames and rows, and messages.py packs what is looked at. filters.py and tags.py find rows
again, by conditions (conditions.py) and by keys (rows.py). assets/ has the part that runs in the browser.
"""
