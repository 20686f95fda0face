"""The deployed dashboard of a local endpoint, drawn as one HTML page."""
