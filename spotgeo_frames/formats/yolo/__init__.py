"""YOLO's text files: `reader` reads folders of them, `label_lines` one file, `frame_files` finds which frames there are."""
