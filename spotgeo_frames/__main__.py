"""`python -m spotgeo_frames` is the command `spotgeo-frames`."""

import sys


def main() -> None:
    """Runs the command line; it can be interrupted while its modules load, too."""
    try:
        from .cli import app
    except KeyboardInterrupt:
        print("ended by SIGINT", file=sys.stderr)
        sys.exit(130)
    app.main()


if __name__ == "__main__":
    main()
