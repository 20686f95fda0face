"""What another version of triton-fleet would change in an account."""
