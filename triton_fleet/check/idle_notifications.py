"""Teams that an environment would notify of alarms, and that own none of its endpoints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from triton_fleet.findings import Finding, Severity
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.spec.environment import LOCAL
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.source import finding_at


def idle_notifications(project: Project, specs: Sequence[LoadedSpec]) -> Iterator[Finding]:
    """A warning for each, where the specs are all endpoints that the environment has or may get."""
    names = {spec.spec.endpoint for spec in specs}
    if not names or names != {*project.spec_files} or project.unpromoted:
        return
    environment = project.environment
    owners = sorted({spec.spec.owner.team for spec in specs if spec.spec.owner})
    for team in environment.notifications.owners if environment.environment != LOCAL else ():
        if team not in owners:
            message = (
                f"`notifications.owners` has {team!r}, which owns no endpoint of {environment.environment}"
            )
            meant = did_you_mean(team, owners)
            hint = f"{meant}{' ' if meant.endswith('?') else '; '}otherwise remove it"
            if not owners:
                hint = "remove it: no spec has an `owner`"
            mark = project.environment_source.mark(("notifications", "owners", team))
            yield replace(finding_at(mark, "FL518", message, hint), severity=Severity.WARNING)
