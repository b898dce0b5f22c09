"""The viewer: draws the frames of match tables, with truth, predictions and how they were matched.

view.py packs what is shown: numbers and texts in the arrays of packing.py, the area of each sequence by extents.py.
ignored.py adds the objects that count nowhere. assets/ has the viewer itself: viewer.js joins its parts, source.js
answers what it asks, columns.js reads the arrays, draw.js draws frames and timeline.js time lines. scripts.py puts
these modules into one script. The page and the notebooks use the viewer; it knows neither.
"""
