"""Has a SageMaker job compile an engine, on a GPU that CodeBuild has not."""
