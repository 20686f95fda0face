"""Refreshes the catalog's facts, or warns of old ones: `make catalog` and `make lint` run it."""

from __future__ import annotations

import sys

import yaml

from catalog_refresh.program import main

if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except (OSError, yaml.YAMLError) as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
