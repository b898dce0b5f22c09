"""The command line: its commands, their arguments, the functions they call, and the text or JSON they print.

In come the arguments of a command line; out come text or JSON, and files. No other room uses it; it uses all rooms.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
