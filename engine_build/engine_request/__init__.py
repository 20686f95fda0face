"""The parts that all builds share: the request, the artifact bucket, and the outcome."""
