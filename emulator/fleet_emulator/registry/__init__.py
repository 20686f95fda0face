"""ECR, which knows SageMaker's Triton images by name."""
