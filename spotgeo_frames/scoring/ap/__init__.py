"""Average precision, by the protocols of official evaluators.

`protocol_entries` says what each protocol decides, and `rules` which one arguments ask for. `detections` sorts what a
detector claims and finds what is similar, with the categories that `categories` and `verified` tell of; `scopes` says
what counts (an area range, the truths with an attribute) and matches there; `curves` gives precision and recall for any
weights of the frames, and `interpolation` what each protocol takes of them; `numbers` has the numbers; `evaluate` puts
them together, and keeps them as tables; `tables` lays out what `average_precision` returns, which is in `result`,
`texts` what is said of it, and `attribution` says whose number that is. `slices` gives the numbers of slices;
`evaluable` makes a result answer what match tables answer; `parts` does all that for frames that come in parts, and
`protocol_table` for many protocols.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
