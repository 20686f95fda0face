"""The deployed dashboard of an endpoint, drawn as one HTML page."""
