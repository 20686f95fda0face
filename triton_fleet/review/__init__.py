"""A change under review: both of its commits read and synthesised, without credentials."""
