from .matcher import match as match
from .matcher import match_frames as match_frames
