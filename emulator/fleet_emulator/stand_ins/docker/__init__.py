"""A stand-in for docker: what the build of an image calls of it. It assembles images, and runs nothing."""
