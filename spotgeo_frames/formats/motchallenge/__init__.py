"""MOTChallenge folders: `reader` and `lines` read and write them, `preprocessing` takes out what is not evaluated."""
