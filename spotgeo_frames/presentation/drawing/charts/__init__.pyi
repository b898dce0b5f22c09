from . import in_notebooks as in_notebooks
from . import of_places as of_places
from . import of_slices as of_slices
from . import of_tables as of_tables
from .parts import Drawing as Drawing
from .parts import page_spec as page_spec
from .parts import short_names as short_names
from .parts import shown_name as shown_name
