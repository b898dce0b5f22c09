"""Defines each table, checks tables and says what is wrong with one, and selects rows of one.

In come tables of pandas, polars or pyarrow and anything that exports an Arrow stream; out come checked pandas
DataFrames, `Annotations` and `Columns`, and results as the kind of table that came in. Every room but `support` may
use it; it uses `support`.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
