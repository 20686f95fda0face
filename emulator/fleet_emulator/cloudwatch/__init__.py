"""CloudWatch's metrics in the embedded AWS: what is put, and the statistics and expressions over it."""
