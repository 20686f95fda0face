"""The names of a fleet's folders, and of the files in them that have a fixed name."""

from __future__ import annotations

SPECS = "model_specs"
SPEC_SCHEMA = "endpoint.schema.json"
"""In model_specs/."""
PROFILES = "profiles"
POLICIES = "policies"
ENVIRONMENTS = "environments"
LOCKS, LOCK_END, SPEC_END = "locks", ".lock.yaml", ".spec.yaml"
OWN_FOLDERS = (SPECS, ENVIRONMENTS, PROFILES, POLICIES, LOCKS)
"""The folders of a fleet whose files the product reads."""
FOLDER = "_folder.yaml"
"""Keys of all specs of its folder and of the folders in that."""
