"""Files to tables and back: the spotGEO challenge's JSON, Parquet, CSV and Arrow, and the formats of benchmarks and of
tools of annotation, a module each; and detections that torchvision and supervision hold in memory.

In come paths, or such detections; out come `Annotations`, and files. `scale` and `cli` may use it; it uses `matching`,
since what a benchmark takes out depends on what overlaps.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
