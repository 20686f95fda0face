"""Has the TensorRT engines of a model repository built, and assembles the model data of an endpoint.

AWS actions that the functions call: s3:GetObject, PutObject, ListBucket and AbortMultipartUpload;
codebuild:ListBuildsForProject, BatchGetBuilds and StartBuild.
"""
