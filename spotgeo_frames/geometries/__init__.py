"""What a row is: a point, a box, a joint, a pose, or what a person registered. One object a geometry, one file each.

In come the columns of tables and match tables; out come measures of rows against rows, the boxes that rows lie in,
their middles, outlines and offsets. Every room over `tables` may use it; it uses `tables`. What differs between
geometries is a fact or a function of the object; outside, few places still ask which geometry there is.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
