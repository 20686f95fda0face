"""Service Quotas, with the values that it is given."""
