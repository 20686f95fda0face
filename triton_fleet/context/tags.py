"""The tags of an endpoint's stack: the environment's, the spec's own, and those of the product."""

from __future__ import annotations

from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.environment import Environment


def endpoint_tags(environment: Environment, spec: EndpointSpec) -> dict[str, str]:
    """What everything in an endpoint's stack is tagged with; of one key the spec's value wins."""
    return {**environment.resource_tags, **spec.tags, **own_tags(spec)}


def own_tags(spec: EndpointSpec) -> dict[str, str]:
    """The endpoint's name, and its owner where it has one."""
    tags = {"triton-fleet:endpoint": spec.endpoint}
    if spec.owner is not None:
        tags["triton-fleet:owner"] = spec.owner.team
        if spec.owner.contact is not None:
            tags["triton-fleet:contact"] = spec.owner.contact
    return tags
