"""An AWS inside this process: moto, extended until the real CDK CLI and boto3 are content with it."""
