"""Stand-ins for backends of Triton, and what they share; Triton's Python stub imports them."""
