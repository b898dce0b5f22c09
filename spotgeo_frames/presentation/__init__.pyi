from .drawing import show_tables as show_tables
from .drawing import video as video
from .explorer import explore as explore
from .folders import load as load
from .folders import save as save
from .page import report as report
