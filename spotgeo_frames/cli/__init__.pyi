from . import app as app
