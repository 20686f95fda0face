"""A change under review: both of its commits read and synthesised, and the report on it."""
