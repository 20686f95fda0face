"""TensorRT engines in the artifact bucket: which are there, building those that are not, packing them."""
