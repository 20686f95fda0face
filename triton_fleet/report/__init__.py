"""Reports that are computed from a fleet's files: its costs."""
