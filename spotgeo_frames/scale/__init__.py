"""Data larger than the memory: Parquet datasets, evaluated part by part on this machine's cores or on a Dask cluster."""
