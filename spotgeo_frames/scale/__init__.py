"""Evaluates datasets of any size part by part, on all cores, on a Dask cluster, or by any other engine.

In come paths of Parquet datasets, or evaluations of parts; out come the tables that `summarize` and `track` give. `cli`
may use it; it uses `tracking` and `formats`. `stream` has the public functions of datasets. `listing`, `files`,
`contents`, `columns`, `blocks` and `quantiles` read a dataset; `parts`, `run`, `evaluation`, `workers` and `dask`
divide and do the work; `journal` and `results` store its results; `sorted_copies`, `repartition` and `cluster_sorting`
sort a dataset. `sum_tables`, `combined_sums` and `made_with` are for other engines: the sums of parts as tables, and
what they give together.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
