"""SageMaker's processing and training jobs, which really run, as processes of this machine."""
