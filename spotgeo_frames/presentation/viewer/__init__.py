"""The viewer: draws the frames of match tables, with truth, predictions and how they were matched.

view.py packs what is shown: the frames in the order of frames.py, the truths and predictions of submissions.py, and the
area of each sequence by extents.py, all as the arrays of packing.py. ignored.py adds the objects that count nowhere.
assets/ has the viewer itself: viewer.js joins its parts, source.js answers what it asks, columns.js reads the arrays,
draw.js draws frames and life_bars.js time lines. scripts.py puts these modules into one script. The page and the
notebooks use the viewer; it knows neither.
"""
