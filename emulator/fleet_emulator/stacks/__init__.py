"""CloudFormation: stacks that run in the background, tell what they do, and roll back."""
