"""Whether a new fleet would be read, before any of its files is written."""

from __future__ import annotations

from pathlib import Path

from triton_fleet.endpoint.environment import own_findings
from triton_fleet.findings import FindingsError, all_of
from triton_fleet.new.scaffold.files import NewFleet
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.problems import validate
from triton_fleet.spec.source import Mark, Source


def require_valid(folder: Path, fleet: NewFleet) -> None:
    """Check the environments that were asked for, as `fleet check` does.

    Args:
        folder: Where the fleet will be: findings name its files.
        fleet: What its owner has chosen.

    Raises:
        FindingsError: every mistake in a name, the account or the region.
    """

    def check(name: str) -> None:
        file = folder / "environments" / f"{name}.yaml"
        source = Source(file, fleet.environment(name), {(): Mark(file, 1, 1)})
        if findings := own_findings(validate(Environment, source), source):
            raise FindingsError(findings)

    all_of(fleet.environments, check)
