from . import curves as curves
from . import parts as parts
from . import protocol_entries as protocol_entries
