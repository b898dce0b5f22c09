"""Average precision, as pycocotools 2.0.11 computes it.

`detections` sorts what a detector claims and finds what is similar; `curves` says what counts (all, an area range, the
truths with an attribute), matches there, and gives precision and recall, for any weights of the frames; `numbers` has
the official numbers; `evaluate` puts them together, and keeps them as tables; `tables` lays out what
`average_precision` returns, which is in `result`. `slices` gives the numbers of slices; `evaluable` makes a result
answer what match tables answer.
"""
