"""Evaluates datasets of any size part by part, on all cores, on a Dask cluster, or by any other engine.

In come Parquet datasets, tables that become such, or evaluations of parts; out come the tables that `summarize` and
`track` give. `cli` may use it; it uses `tracking` and `formats`. Each module uses only modules above it:

    a dataset         files             state, footer and row groups of a file; reads ahead from a store
                      listing           which files there are, and the values in the names of their folders
                      streams           tables that are no files, as temporary files
                      row_groups        what is known of a row group before it is read
                      contents          what the footers tell: columns, types, the range of each row group
                      columns           opens all sides of an evaluation, and chooses the columns to read
                      rows              the rows of a row group, read and put in order
    its parts         parts             ranges of sequences and frames, and the row groups of each
                      blocks            reads a part, whole frames at a time
                      checked_blocks    the blocks as checked sides
                      quantiles         edges of quantile bins of a column
                      layout            how rows lie where footers do not tell
                      sorting           sorts rows with bounded memory
                      planning          decides which parts are read as they lie, and what is sorted first
    their results     folder            the folder of a run
                      results           what parts add up to, and the files of that
                      journal           which parts are finished, and whether their files prove it
    a run             evaluation        evaluates one part
                      workers           gives parts to the processes of this machine
                      dask              gives parts to a Dask cluster
                      run               evaluates all parts but those that are finished already
                      datasets          score_dataset() and track_dataset()
    a sorted copy     cluster_sorting   sorts on a Dask cluster
                      sorted_copies     repartition_by_sequence()
    other engines     made_with         how sums were made, as a column of them
                      sum_tables        sums(): what a part adds up to, as a table; combine(): their metrics
    a training loop   batch_arrays      one side of a batch, from arrays and tensors or from a table
                      batch_form        what all batches have in common
                      seen_frames       which frames there were
                      plain_batches     plain batches, which wait to be matched together
                      seen_sides        how the two sides of all batches fit each other
                      batches           reads a batch
                      accumulator       Accumulator, and what batches add up to
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
