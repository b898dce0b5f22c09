from .errors import InputError as InputError
