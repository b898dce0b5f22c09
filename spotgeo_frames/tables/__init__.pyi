from .annotations import Annotations as Annotations
from .tidying import tidy as tidy
