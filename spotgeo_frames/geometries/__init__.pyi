from .registered import geometry as geometry
