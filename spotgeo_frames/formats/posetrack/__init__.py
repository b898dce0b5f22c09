"""PoseTrack folders: `reader` reads them, `preprocessing` takes out what is not evaluated."""
