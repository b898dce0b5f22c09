"""Average precision, as pycocotools 2.0.11 computes it.

`detections` sorts what a detector claims and finds what is similar; `scopes` says what counts (all, an area range, the
truths with an attribute) and matches there; `curves` gives precision and recall, for any weights of the frames;
`numbers` has the official numbers; `evaluate` puts them together; `tables` lays out what `average_precision` returns,
which is in `result`, and `kept` what it is saved as. `slices` and `weighted` give the numbers of slices; `asked` makes
a result answer what match tables answer.
"""
