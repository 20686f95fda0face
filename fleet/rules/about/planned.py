"""Rules about what a spec can say already and a deploy cannot do yet."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.decide.decided import Decided
from fleet.rules.rule import Problem, rule
from fleet.spec.source import KeyPath


@rule("FL140", source="CHANGELOG.md", needed=True, at_deploy=True)
def key_that_is_deployed(endpoint: Decided) -> Iterator[Problem]:
    """All that the spec says can be deployed.

    `engines`, `rollout` and `alarms` are checked; this version does not build, roll out and watch by them
    yet, and refuses to deploy a spec as if it did.
    """
    spec = endpoint.spec
    planned: dict[KeyPath, object] = {("rollout",): spec.rollout, ("alarms",): spec.alarms}
    planned |= {("models", index, "engines"): each.engines for index, each in enumerate(spec.models)}
    for path, value in planned.items():
        if value:
            message = f"`{path[-1]}` is checked, but this version of Triton Fleet cannot deploy it yet"
            yield Problem(path, message, "leave it out to deploy the endpoint now")
