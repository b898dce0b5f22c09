from .display import show_tables as show_tables
from .explorer.opening import explore as explore
from .page.build import report as report
from .saving import load as load
from .saving import save as save
