"""What platform engineers allow endpoints: policies, read and judged on a day."""
