"""Lambda: the functions of stacks, whose deployed code runs in this process."""
