"""The version of the package, noted in every result."""

__version__ = "0.1.0"
