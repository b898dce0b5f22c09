from .saving import MANIFEST as MANIFEST
from .saving import check_target as check_target
from .saving import is_saved as is_saved
from .saving import load as load
from .saving import load_as as load_as
from .saving import save as save
from .saving import save_result as save_result
