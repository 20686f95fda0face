"""Images of one's own: a Dockerfile, its build context, what is wrong with them, and the key of the image."""
