"""Checks whether an account is ready for the specs and locks; nothing in the account is changed."""
