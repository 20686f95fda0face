"""The calls of the stand-ins, recorded on request: a line of JSON for each."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path

CALLS = "FLEET_STAND_IN_CALLS"
"""The environment variable that names the file."""


def record_call(environ: Mapping[str, str] = os.environ) -> None:
    """Append this process's name and arguments, if a file is named for them."""
    file = environ.get(CALLS)
    if file:
        with Path(file).open("a", encoding="utf-8") as calls:
            calls.write(json.dumps([Path(sys.argv[0]).name, *sys.argv[1:]]) + "\n")
