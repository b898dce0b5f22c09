"""What goes wrong: kinds of error and their costs, identity breaks, changes, offsets, histories, confused classes,
labels that may be wrong.

In come match tables and results; out come tables of errors. It uses `certainty`, and `mistakes` uses it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
