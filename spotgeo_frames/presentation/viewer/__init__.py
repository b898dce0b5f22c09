"""The viewer: draws the frames of match tables, with truth, predictions and how they were matched.

view.py packs what is shown: the frames, truths and predictions in the order of rows.py, and the area of each sequence
by places.py, all as the arrays of packing.py. assets/ has the viewer itself: viewer.js joins its parts, source.js
answers what it asks, columns.js reads the arrays, draw.js draws frames and life_bars.js time lines. scripts.py puts
these modules into one script. The page and the notebooks use the viewer; it knows neither.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
