"""Folders that keep results: `save()` writes one, `load()` reads it back and checks that nothing was changed.

In come results; out come folders of Parquet and JSON, and the same results again.
"""
