"""Data larger than the memory: Parquet datasets, evaluated part by part on all cores or by a Dask cluster."""

from .repartition import repartition_by_sequence
from .stream import score_dataset, track_dataset

__all__ = ["repartition_by_sequence", "score_dataset", "track_dataset"]
