"""Git's knowledge of a fleet's folder: its files, its work tree and its commits."""
