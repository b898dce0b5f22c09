"""The version of the package, noted in every result; alone here, since `import spotgeo_frames` needs it at once."""

__version__ = "0.1.0"
