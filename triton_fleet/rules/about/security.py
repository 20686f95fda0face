"""Rules about security: who may call, secrets, the network, and fixes of Triton."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from triton_fleet.context.context import EndpointContext
from triton_fleet.context.raw import properties_at
from triton_fleet.context.security_fixes import fix_names, security_gap
from triton_fleet.findings import Severity
from triton_fleet.rules.rule import Problem, rule
from triton_fleet.spec.source import KeyPath


@rule("FL570", source="docs/security.md", is_needed=True)
def disallowed_invoker(endpoint: EndpointContext) -> Iterator[Problem]:
    """The roles that may call an endpoint are of accounts that the environment allows.

    A spec could otherwise let any account call its models. The environment's `allowed_invokers` names
    accounts and roles; without it, all roles of the environment's own account are allowed.
    """
    environment = endpoint.environment
    if environment.is_local:
        return
    allowances = set[object](environment.allowed_invokers or ())
    if environment.allowed_invokers is None:
        allowances.add(environment.account)
    for own in environment.own_values(endpoint.spec.endpoint, "access", "invokers"):
        allowances.update(map(str, own) if isinstance(own, list) else ())
    for index, invoker in enumerate(endpoint.spec.access.invokers):
        account = invoker.split(":")[4]
        if not allowances & {invoker, account}:
            message = f"{invoker} is a role of account {account}, and the environment does not allow it"
            hint = environment.allowance_hint("allowed_invokers")
            yield Problem(("access", "invokers", index), message, hint)


KNOWN_SECRET = re.compile(
    r"(HF|HUGGING_FACE_HUB|GITHUB|AWS_SESSION|ACCESS|AUTH|API)_TOKEN$|(^|_)(SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_KEY)$",
    re.IGNORECASE,
)
SECRET_NAME = re.compile(rf"{KNOWN_SECRET.pattern}|^TOKEN$|(^|_)CREDENTIALS$", re.IGNORECASE)
"""Names that may be of secrets; the known ones always are."""
SECRET_VALUE = re.compile(
    r"(AKIA|ASIA)[0-9A-Z]{16}|hf_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|sk-[A-Za-z0-9_-]{20,}"
)
SAFE_STORAGE = "keep it in Secrets Manager, give the container its ARN, and revoke what was committed"


def redact(name: str, value: str) -> str:
    """A variable's value as a message may show it."""
    return "a secret" if SECRET_VALUE.search(value) or SECRET_NAME.search(name) else repr(value)


@rule("FL242", source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_DescribeModel.html")
def plain_text_secret(endpoint: EndpointContext) -> Iterator[Problem]:
    """The container's environment contains no secret.

    Anyone who may describe the Model or read the template or this file can read it.
    """
    for name, value in endpoint.spec.environment.items():
        path = ("environment", name)
        is_plain = value.strip() and not value.startswith(("arn:", "/")) and not value.isdecimal()
        if SECRET_VALUE.search(value) or (is_plain and KNOWN_SECRET.search(name)):
            yield Problem(path, f"{name} contains a secret in plain text", SAFE_STORAGE, confidential=True)
        elif is_plain and SECRET_NAME.search(name):
            message = f"{name} looks like a secret in plain text"
            yield Problem(path, message, SAFE_STORAGE, certain=False, confidential=True)


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


@rule("FL550", source="docs/security.md", is_needed=True)
def disallowed_network(endpoint: EndpointContext) -> Iterator[Problem]:
    """An endpoint joins only subnets and security groups that the environment allows.

    Its containers reach what these reach, for example databases. The environment's `allowed_networks` names
    them; those of its own `defaults` and `overrides` are allowed, too. Raw properties are compared likewise.
    """
    environment, spec = endpoint.environment, endpoint.spec
    if environment.is_local:
        return
    allowances, hint = (
        set[object](environment.allowed_networks),
        environment.allowance_hint("allowed_networks"),
    )
    members: list[tuple[KeyPath, object]] = [
        (("network", key, index), name)
        for key in ("subnets", "security_groups")
        for index, name in enumerate(getattr(spec.network, key))
    ]
    for key in ("subnets", "security_groups"):
        for own in environment.own_values(spec.endpoint, "network", key):
            allowances.update(map(str, own) if isinstance(own, list) else ())
    for resource in ("Model", "EndpointConfig"):
        for raw in properties_at(spec, resource, "VpcConfig"):
            members += [(raw.path, leaf) for leaf in _leaves(raw.value)]
    for path, name in members:
        if name not in allowances:
            yield Problem(path, f"the environment does not allow an endpoint to join {name}", hint)


def _leaves(value: object) -> Iterator[object]:
    """The single values in mappings and lists."""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    elif value is not None:
        yield value


BULLETINS = "https://github.com/NVIDIA/product-security"


@rule("FL520", Severity.WARNING, source=BULLETINS)
def missing_security_fix(endpoint: EndpointContext) -> Iterator[Problem]:
    """The release of Triton has the security fixes of its SageMaker front end that the mode needs.

    AWS builds images of few releases, and does not publish what it patches in them. The fixes, with the first
    release of each and what their absence allows, are in `triton_fleet/catalog/data/security_fixes.yaml`;
    images.md lists them too. A policy requires them by `require: {security_fixes: {severity: high}}`.
    """
    gap = security_gap(endpoint)
    if gap is not None and gap.missing_fixes:
        names, remedy = fix_names(gap.missing_fixes), gap.remedy(gap.missing_fixes)
        message = f"Triton {gap.release} lacks security fixes for `mode: {gap.mode}`: {names}"
        hint = f'{remedy}; or write `allow: {{missing-security-fix: "…"}}` with the reason'
        yield Problem(("triton",), message, hint)
