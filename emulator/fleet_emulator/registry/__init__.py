"""ECR: the account's own repositories, and SageMaker's Triton images by name."""
