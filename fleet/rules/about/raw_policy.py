"""Rules about a raw role and a raw image, which the product and the environment decide.

Neither rule can be allowed in a spec, so they also check what other rules refuse only by default.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fleet.endpoint.context.context import EndpointContext
from fleet.endpoint.context.raw import properties_at
from fleet.endpoint.context.registries import IMAGE, is_allowed, literal_name
from fleet.rules.rule import Problem, rule
from fleet.spec.source import KeyPath

ROLE = "ExecutionRoleArn"
IMAGES = (IMAGE, "PrimaryContainer.ModelPackageName", "Containers")
"""What decides which image a Model runs; a model package brings its own."""
ROLE_ARN = re.compile(r"arn:[^:]+:iam::(?P<account>[0-9]{12}):")


@rule("FL346", source="docs/security.md", needed=True)
def disallowed_role(endpoint: EndpointContext) -> Iterator[Problem]:
    """The endpoint's role is the one that the product creates, or one that the environment allows.

    With another role, a spec could run its models with any permissions of that role, outside the
    environment's `permissions_boundary`; SageMaker cannot assume a role of another account.
    The environment's `allowed_roles` names the exceptions.
    """
    environment = endpoint.environment
    for resource in ("Model", "EndpointConfig"):
        for raw in properties_at(endpoint.spec, resource, ROLE):
            if raw.name == ROLE and raw.value in environment.allowed_roles:
                continue
            message = f"{raw.name} of {resource} gives the endpoint a role that the product did not create"
            found = ROLE_ARN.match(raw.value) if isinstance(raw.value, str) else None
            if found is not None and found["account"] != environment.account:
                theirs, ours = found["account"], environment.account
                message += f", of account {theirs}: SageMaker assumes only roles of {ours}"
            yield Problem(raw.path, message, _hint(endpoint, "allowed_roles"))


@rule("FL349", source="docs/security.md", needed=True)
def disallowed_registry(endpoint: EndpointContext) -> Iterator[Problem]:
    """The container's image is from a registry of SageMaker, or from one that the environment allows.

    The image's code runs with the endpoint's role, on every call. The registry is read from the name of the
    image, so a name that CloudFormation computes, or that a model package contains, is refused. The
    environment's `allowed_registries` names the exceptions; the endpoint's role may pull from them.
    """
    reported = set[KeyPath]()
    for raw in (raw for path in IMAGES for raw in properties_at(endpoint.spec, "Model", path)):
        reference = literal_name(raw.value) if raw.name == IMAGE else None
        if reference is None:
            message = f"{raw.name} does not show which registry the image is from"
        elif not is_allowed(reference.registry, endpoint.environment):
            message = (
                f"the image is from the registry {reference.registry}, which the environment does not allow"
            )
        else:
            continue
        if raw.path not in reported:
            reported.add(raw.path)
            yield Problem(raw.path, message, _hint(endpoint, "allowed_registries"))


def _hint(endpoint: EndpointContext, key: str) -> str:
    file = f"environments/{endpoint.environment.environment}.yaml"
    return f"leave it out, or add it to `{key}` in {file}: a spec cannot `allow` it"
