"""What the local fleet measures, in the embedded CloudWatch: SageMaker's metrics and Triton's own."""
