"""Data larger than the memory: Parquet datasets, evaluated part by part by this machine's cores or by a Dask cluster."""

from .stream import score_dataset, track_dataset

__all__ = ["score_dataset", "track_dataset"]
