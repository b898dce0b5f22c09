from .callers_matcher import match_frames as match_frames
from .matcher import match as match
