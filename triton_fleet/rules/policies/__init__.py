"""What platform engineers allow endpoints: policies, read and checked on a day."""
