"""TensorRT engines in the artifact bucket: finding, building and packing them."""
