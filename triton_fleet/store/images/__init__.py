"""Images of one's own: what one is built from, its build, and the record of that."""
