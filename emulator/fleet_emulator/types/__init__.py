"""The CloudFormation resource types that the embedded AWS hosts, one module for each service."""
