"""The CDK app: `-c env=NAME` selects an environment, `-c endpoints=a,b` some of its endpoints."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
sys.path[:0] = [str(ROOT), str(ROOT / "constructs")]

from aws_cdk import App
from rich.console import Console

from fleet.findings import FindingsError
from fleet.resolve.resolve import resolve_fleet
from fleet.show_findings import show_findings
from stacks.fleet_app import add_fleet


def main() -> None:
    """Resolve the files and declare the stacks; exit with 1 and the findings where the files are wrong."""
    app = App()
    environment = app.node.try_get_context("env") or ""
    selected = str(app.node.try_get_context("endpoints") or "")
    try:
        fleet = resolve_fleet(
            ROOT, environment, [name.strip() for name in selected.split(",") if name.strip()]
        )
    except FindingsError as error:
        show_findings(Console(stderr=True, highlight=False), error.findings)
        sys.exit(1)
    add_fleet(app, fleet)
    app.synth()


if __name__ == "__main__":
    main()
