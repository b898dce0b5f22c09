from .drawing.display import show_tables as show_tables
from .explorer.opening import explore as explore
from .folders.saving import load as load
from .folders.saving import save as save
from .page.build import report as report
