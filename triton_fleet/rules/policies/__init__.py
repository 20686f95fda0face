"""Policies: rules of platform engineers for endpoints, read and checked on a day."""
