"""The same road in parts: Parquet of any size, on all cores or on a Dask cluster.

In come paths of Parquet datasets; out come the tables that `summarize` and `track` give. `cli` may use it; it uses
`tracking` and `formats`. `contents`, `blocks` and `stream` read a dataset, `parts`, `run`, `workers` and `dask` divide
the work, `journal` and `results` keep what came of it.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
