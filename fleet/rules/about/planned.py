"""Rules about what a spec can say already and a deploy cannot do yet."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.decide.decided import Decided
from fleet.decide.rollout import thresholds_read
from fleet.rules.rule import Problem, rule


@rule("FL140", source="CHANGELOG.md", needed=True, at_deploy=True)
def key_that_is_deployed(endpoint: Decided) -> Iterator[Problem]:
    """All that the spec says can be deployed.

    `engines` and `alarms` are checked; this version does not build engines yet, and refuses to deploy a spec
    as if it did. `alarms` are thresholds that call a `rollout` back; without one nothing watches them yet.
    """
    spec = endpoint.spec
    for index, each in enumerate(spec.models):
        if each.engines:
            message = "`engines` is checked, but this version of Triton Fleet cannot deploy it yet"
            yield Problem(("models", index, "engines"), message, "leave it out to deploy the endpoint now")
    for key, value in spec.alarms or ():
        if value is not None and key not in thresholds_read(spec):
            message = f"`{key}` calls no rollout back here, and this version wakes nobody by it yet"
            hint = "write a `rollout` that is called back by it, or watch the dashboard"
            yield Problem(("alarms", key), message, hint, certain=False)
