"""The report: one HTML page to send to people, and a folder of Parquet with the tables behind it.

build.py calls the steps in order. evaluation.py computes what all sections share. sections/ has a function for
each section of the page, which makes texts, tables and charts of its numbers, and says which tables to keep. html/
writes the page, and folder.py the Parquet.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
