"""`image`: builds a container image, pushes it, and records what is inside."""
