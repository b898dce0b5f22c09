"""Evaluates datasets of any size part by part, on all cores, on a Dask cluster, or by any other engine.

In come Parquet datasets, tables that become such, or evaluations of parts; out come the tables that `summarize` and
`track` give. `cli` may use it; it uses `tracking` and `formats`. Each module uses only modules above it:

    a dataset         files             state, footer and row groups of a file; reads ahead from a store
                      listing           which files there are, and the values in the names of their folders
                      contents          what the footers tell: columns, types, the range of each row group
                      columns           opens all sides of an evaluation, and chooses the columns to read
                      rows              the rows of row groups: read, put in order, sorted with bounded memory
    its parts         parts             ranges of sequences and frames, and the row groups of each
                      blocks            reads a part, whole frames at a time, as checked sides
                      quantiles         edges of quantile bins of a column
                      dataset_slices    the conditions that tracks are evaluated by, wherever they occur
                      planning          how rows lie, which parts are read as they lie, and what is sorted first
    their results     folder            the folder of a run
                      results           what parts add up to, and the files of that
                      journal           which parts are finished, and whether their files prove it
    a run             evaluation        evaluates one part
                      run               evaluates all other parts, in processes of this machine or on a Dask cluster
                      datasets          score_dataset() and track_dataset()
    a sorted copy     sorted_copies     repartition_by_sequence(), here or on a Dask cluster
    other engines     made_with         how sums were made, as a column of them
                      sum_tables        sums() and combine(): what a part adds up to, as a table, and back
    a training loop   batch_arrays      one side of a batch, from arrays and tensors or from a table
                      batches           reads a batch, which may wait for others; what all have in common
                      batch_results     what batches give: sums, and match tables as one
                      track_batches     sequences that have ended, and the rows of those that go on
                      accumulator       Accumulator, and what batches add up to
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
