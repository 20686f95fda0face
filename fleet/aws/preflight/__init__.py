"""Whether an account is ready for what specs and locks say, asked without changing anything there."""
