"""The viewer of frames: assets/ has its script and style, scripts.py puts modules of JavaScript into one script.

The report's page and the notebook's explorer use it; it knows neither. assets/viewer.js makes the viewer and joins its
parts, source.js answers what it asks, columns.js reads the packed tables, draw.js draws frames, timeline.js time lines.
"""
