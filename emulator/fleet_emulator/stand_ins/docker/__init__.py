"""A stand-in for docker, marked as such in every line: it assembles images, and runs nothing of them."""
