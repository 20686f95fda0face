"""An embedded AWS for tests, with a host that records, and the stacks and functions that they deploy."""
