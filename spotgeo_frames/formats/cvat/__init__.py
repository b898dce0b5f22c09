"""CVAT for video: `reader` makes tables of a file, `document` takes its XML apart and says what is wrong with it."""
