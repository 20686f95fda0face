"""Rules about what a spec can say already and a deploy cannot do yet."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.decide.decided import Decided
from fleet.rules.rule import Problem, rule


@rule("FL140", source="CHANGELOG.md", needed=True, at_deploy=True)
def key_that_is_deployed(endpoint: Decided) -> Iterator[Problem]:
    """All that the spec says can be deployed.

    `engines` is checked; this version does not build engines yet, and refuses to deploy a spec as if it did.
    """
    for index, each in enumerate(endpoint.spec.models):
        if each.engines:
            message = "`engines` is checked, but this version of Triton Fleet cannot deploy it yet"
            yield Problem(("models", index, "engines"), message, "leave it out to deploy the endpoint now")
