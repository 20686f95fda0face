"""The CDK app: `-c env=NAME` selects an environment, `-c endpoints=a,b` some of its endpoints."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT), str(ROOT / "constructs")]

from fleet.findings import CannotRunError, Finding, FindingsError
from fleet.local.tools import check_node


def main() -> None:
    """Resolve the files and declare the stacks.

    Exits with 1 and the findings where the files are wrong, with 2 where a tool is missing.
    """
    try:
        check_node(os.environ.get("PATH", os.defpath))
        synth()
    except FindingsError as error:
        from fleet.show_findings import show_findings

        show_findings(error.findings)
        sys.exit(1)
    except CannotRunError as error:
        sys.exit(_could_not_run(str(error)))
    except ModuleNotFoundError as error:
        sys.exit(_could_not_run(f"{error}\n  remedy: run `make setup`, then `source .venv/bin/activate`"))


def synth() -> None:
    """Synthesise the selected stacks; the CDK is imported here, as it starts Node.js at once."""
    from aws_cdk import App

    from fleet.resolve.resolve import resolve_fleet
    from stacks.fleet_app import add_fleet

    app = App()
    for mistaken, meant in {"endpoint": "endpoints", "environment": "env"}.items():
        if app.node.try_get_context(mistaken) is not None:
            message = f"`-c {mistaken}=` is not read"
            raise FindingsError([Finding(code="FL122", message=message, hint=f"write `-c {meant}=`")])
    selected = app.node.try_get_context("endpoints")
    named = [name.strip() for name in str(selected).split(",") if name.strip()]
    endpoints = () if selected is None else named or [""]
    add_fleet(app, resolve_fleet(ROOT, app.node.try_get_context("env") or "", endpoints))
    app.synth()


def _could_not_run(problem: str) -> int:
    print(f"cannot run: {problem}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    main()
