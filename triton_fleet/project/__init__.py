"""A fleet's folder, opened once: its environments, profiles, layers, specs and locks."""
