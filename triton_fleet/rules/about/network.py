"""Rules about the network access of an endpoint's containers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from triton_fleet.context.context import EndpointContext
from triton_fleet.context.raw import properties_at
from triton_fleet.findings import Severity
from triton_fleet.rules.rule import Problem, rule
from triton_fleet.spec.source import KeyPath

ISOLATION = "https://docs.aws.amazon.com/sagemaker/latest/dg/mkt-algo-model-internet-free.html"
VPC = "https://docs.aws.amazon.com/sagemaker/latest/dg/host-vpc.html"
ELSEWHERE = re.compile(r"[a-z0-9]://|^--cache-config=redis\b|^--trace-config=opentelemetry,url=")
"""Flags of tritonserver that name another host: a repository in the cloud, a cache, a collector of traces."""


@rule("FL340", source=ISOLATION)
def metrics_of_isolated_container(endpoint: EndpointContext) -> Iterator[Problem]:
    """An isolated container does not publish Triton's metrics.

    It cannot call anything, not even CloudWatch, and has no credentials. SageMaker itself collects its own
    metrics and the container's log, so both continue.
    """
    spec = endpoint.spec
    if spec.network.isolated and spec.metrics.triton:
        message = "the container is isolated, and `metrics.triton` makes it call CloudWatch"
        hint = (
            "write `metrics: {triton: false}`, or replace `network.isolated` with a VPC"
            " without internet access"
        )
        yield Problem(("network", "isolated"), message, hint)


@rule("FL341", source="https://github.com/triton-inference-server/server/tree/main/docs/user_guide")
def remote_flag_of_isolated_container(endpoint: EndpointContext) -> Iterator[Problem]:
    """No flag of an isolated server names another host.

    It cannot reach a shared cache, a trace collector or a repository in the cloud.
    """
    spec = endpoint.spec
    for index, flag in enumerate(spec.container.additional_args) if spec.network.isolated else ():
        if ELSEWHERE.search(flag):
            message = f"the container is isolated, and {flag} names another host"
            yield Problem(("container", "additional_args", index), message, "leave it out")


@rule("FL342", Severity.WARNING, source=VPC)
def single_subnet(endpoint: EndpointContext) -> Iterator[Problem]:
    """`network.subnets` has at least two subnets.

    SageMaker's guide calls for two in different availability zones, even for one instance: a single zone may
    have no free instance of the type.
    """
    subnets = endpoint.spec.network.subnets
    if len(subnets) == 1:
        message = f"{subnets[0]} is the only subnet: SageMaker calls for two in different availability zones"
        yield Problem(("network", "subnets"), message, "add a subnet of the same VPC in another zone")


@rule("FL550", source="docs/security.md", needed=True)
def disallowed_network(endpoint: EndpointContext) -> Iterator[Problem]:
    """An endpoint joins only subnets and security groups that the environment allows.

    Its containers reach what these reach, for example databases. The environment's `allowed_networks` names
    them; those of its own `defaults` and `overrides` are allowed, too. Raw properties are compared likewise.
    """
    environment, spec = endpoint.environment, endpoint.spec
    if environment.is_local:
        return
    allowed, hint = set[object](environment.allowed_networks), environment.allowance_hint("allowed_networks")
    joined: list[tuple[KeyPath, object]] = [
        (("network", key, index), name)
        for key in ("subnets", "security_groups")
        for index, name in enumerate(getattr(spec.network, key))
    ]
    for key in ("subnets", "security_groups"):
        for own in environment.own_values(spec.endpoint, "network", key):
            allowed.update(map(str, own) if isinstance(own, list) else ())
    for resource in ("Model", "EndpointConfig"):
        for raw in properties_at(spec, resource, "VpcConfig"):
            joined += [(raw.path, leaf) for leaf in _leaves(raw.value)]
    for path, name in joined:
        if name not in allowed:
            yield Problem(path, f"the environment does not allow an endpoint to join {name}", hint)


def _leaves(value: object) -> Iterator[object]:
    """The single values in mappings and lists."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for each in value:
            yield from _leaves(each)
    elif value is not None:
        yield value
