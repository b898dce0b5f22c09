from .annotations import Annotations as Annotations
