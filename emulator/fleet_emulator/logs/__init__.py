"""CloudWatch Logs: moto's, with keys of log groups and saved queries."""
