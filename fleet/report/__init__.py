"""What follows from a fleet's files and is told to people: what it costs."""
