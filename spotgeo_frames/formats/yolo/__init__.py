"""YOLO's text files: `reader` reads folders, `label_lines` one file, `frame_files` finds the frames."""
