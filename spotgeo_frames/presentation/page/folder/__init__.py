"""The folder of Parquet behind a page: the tables of all sections, and a README that explains every column."""
