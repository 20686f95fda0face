"""CloudFormation: stacks that run in the background, report events, and roll back."""
