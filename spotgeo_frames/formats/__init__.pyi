from .coco import read_coco as read_coco
from .motchallenge.preprocessing import read_motchallenge as read_motchallenge
from .motchallenge.reader import write_motchallenge as write_motchallenge
from .objects import read_objects as read_objects
from .posetrack.preprocessing import read_posetrack as read_posetrack
from .spotgeo import read_spotgeo as read_spotgeo
from .spotgeo import validate_spotgeo as validate_spotgeo
from .spotgeo import write_spotgeo as write_spotgeo
