"""What a local fleet needs of this machine."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from fleet.findings import CannotRunError

EMBEDDED_AWS = ("moto", "prometheus_client")


def check_place(root: Path) -> None:
    """See that Triton can serve from this folder.

    Raises:
        CannotRunError: its path holds white space.
    """
    if len(str(root).split()) != 1:
        problem = f"the path {root} holds white space, at which Triton splits its own commands"
        raise CannotRunError(problem, "move the folder to a path without")


def check_embedded_aws() -> None:
    """See that the embedded AWS can be started from this Python.

    Raises:
        CannotRunError: what it is made of is not installed.
    """
    for package in EMBEDDED_AWS:
        if importlib.util.find_spec(package) is None:
            raise CannotRunError(
                f"{package}, which the embedded AWS needs, is not installed", "run `make setup`"
            )
