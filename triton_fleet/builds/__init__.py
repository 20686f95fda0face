"""TensorRT engines and container images: what to build, where, and by which key."""
