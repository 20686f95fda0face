"""Metrics of the local fleet, in the embedded CloudWatch: SageMaker's metrics and Triton's own."""
