"""The files of a new fleet, and their upgrade to another version."""
