from .poses import PoseResult as PoseResult
from .poses import pose as pose
from .tracks import TrackResult as TrackResult
from .tracks import track as track
