from .operating_points import operating_point as operating_point
from .reliability import Calibration as Calibration
from .reliability import calibration as calibration
from .sweeps import Sweep as Sweep
from .sweeps import sweep as sweep
from .track_sweeps import rule_with_identities as rule_with_identities
