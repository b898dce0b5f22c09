"""The viewer: draws the frames of match tables, with truth, predictions and how they were matched.

view.py packs what is shown: numbers and texts in the arrays of packing.py, the area of each sequence by extents.py.
ignored.py adds the objects that count nowhere. The page and the notebooks use the viewer; it knows neither.
"""
