"""Rules about the resources that `cloudformation` changes, and their names."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.context.context import EndpointContext
from triton_fleet.context.raw import raw_properties
from triton_fleet.rules.raw import RESOURCES
from triton_fleet.rules.rule import Problem, rule
from triton_fleet.spec.problems import did_you_mean

NAMES = {"ModelName": "Model", "EndpointConfigName": "EndpointConfig"}


@rule("FL208", source="the resources of an endpoint's stack", needed=True)
def unknown_raw_resource(endpoint: EndpointContext) -> Iterator[Problem]:
    """`cloudformation` names only resources of an endpoint's stack."""
    for name in endpoint.spec.cloudformation:
        if name not in RESOURCES:
            message = f"`cloudformation` names {name!r}, which is not a resource of an endpoint's stack"
            yield Problem(("cloudformation", name), message, did_you_mean(name, RESOURCES))


@rule(
    "FL264",
    source="https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/aws-resource-sagemaker-model.html",
)
def fixed_resource_name(endpoint: EndpointContext) -> Iterator[Problem]:
    """Model and endpoint configuration keep the names that CloudFormation chooses.

    Every change replaces both, and a second resource of the same name cannot be created: the next deploy
    fails.
    """
    for name, resource in NAMES.items():
        for raw in raw_properties(endpoint.spec, resource):
            if raw.name == name:
                message = f"a fixed {name} cannot be replaced: the next change of the endpoint fails"
                yield Problem(raw.path, message, "leave it out")
