"""`python -m spotgeo_frames` is the command `spotgeo-frames`."""

from .cli.app import main

main()
