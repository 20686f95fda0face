"""Compiles one TensorRT engine, in the image and on the GPU that will serve it."""
