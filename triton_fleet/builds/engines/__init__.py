"""TensorRT engines: what one is built from, its key, its command line, where it is built."""
