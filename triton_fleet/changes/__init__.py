"""Changes of a fleet: templates, permissions, quotas, costs and specs, compared."""
