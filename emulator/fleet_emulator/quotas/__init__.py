"""Service Quotas, which knows what it is told."""
