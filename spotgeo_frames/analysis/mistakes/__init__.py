"""What `check()` finds: offsets, exchanged columns, other units, shifted frames, identities that follow no object.

In come truth and predictions; out comes a table of suspicions. It uses the other wings of `analysis`, and none of them
uses it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
