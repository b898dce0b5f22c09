"""What each table is: the checks that say what is wrong with one, and how rows of one are selected.

In come pandas DataFrames and anything that exports an Arrow stream; out come checked DataFrames and `Annotations`.
Every room but `support` may use it; it uses `support`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
