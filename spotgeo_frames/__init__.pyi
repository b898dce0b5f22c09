from . import charts as charts
from . import plots as plots
from .analysis import *
from .formats import *
from .geometries import *
from .matching import *
from .presentation import *
from .scale import *
from .scoring import *
from .support import *
from .support.version import __version__ as __version__
from .tables import *
from .tracking import *
