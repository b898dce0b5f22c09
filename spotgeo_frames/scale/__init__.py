"""Evaluates Parquet datasets of any size part by part, on all cores or on a Dask cluster.

In come paths of Parquet datasets; out come the tables that `summarize` and `track` give. `cli` may use it; it uses
`tracking` and `formats`. `stream` has the public functions. `files`, `contents`, `columns`, `blocks` and `quantiles`
read a dataset; `parts`, `run`, `evaluation`, `workers` and `dask` divide and do the work; `journal` and `results` store
its results; `repartition` sorts a dataset.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
