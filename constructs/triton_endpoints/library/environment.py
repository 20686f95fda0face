"""Where constructs are deployed: an environment by its name, by its props, or by its file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

from aws_cdk import Stack, Token
from constructs import Construct

from triton_endpoints.library.props import Keys, written
from triton_endpoints.library.sources import source_of_props
from triton_fleet.endpoint.environment import own_findings
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.reader import read_source
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.problems import validate
from triton_fleet.spec.source import Source

SUFFIX = ".yaml"
REMEDY = 'give the stack both: `env=Environment(account="111122223333", region="us-east-1")`'


@dataclass(frozen=True, kw_only=True)
class FleetEnvironment:
    """An environment by plain props, as environments/ENV.yaml has them; account and region are the stack's.

    Attributes:
        name: Lower-case letters and digits, at most 16; names in the account begin with it.
        tags: Tags of everything that is deployed.
        kms_key: ARN of the key of the artifact bucket, of captured calls, log groups and volumes.
        permissions_boundary: ARN of the policy that bounds every role.
        notifications: Email addresses, and ARNs of queues and functions, by severity.
        runbook: Where your copy of docs/runbook.md is.
        dashboards: Whether each endpoint has a dashboard.
        engine_builds: Where and how TensorRT engines are built.
        allowed_roles: ARNs of roles that a raw `ExecutionRoleArn` may name.
        allowed_registries: Accounts and hosts that a raw `Image` may be of.
        allowed_invokers: Accounts and ARNs of roles that may be invokers; default: this account's roles.
        allowed_networks: Subnets and security groups that a spec file may name; those of a prop `vpc` are
            allowed.
        protected_tags: Keys of tags that only `tags` of the environment may set.
        shell_access: Whether raw properties may switch on EnableSSMAccess.
        allowed_core_dumps: Prefixes in S3 below which raw properties may have core dumps written.
    """

    name: str
    tags: Mapping[str, str] = field(default_factory=dict)
    kms_key: str | None = None
    permissions_boundary: str | None = None
    notifications: Mapping[Literal["warning", "critical"], Sequence[str]] = field(default_factory=dict)
    runbook: str | None = None
    dashboards: bool = True
    engine_builds: Keys = field(default_factory=dict)
    allowed_roles: Sequence[str] = ()
    allowed_registries: Sequence[str] = ()
    allowed_invokers: Sequence[str] | None = None
    allowed_networks: Sequence[str] = ()
    protected_tags: Sequence[str] = ()
    shell_access: bool = False
    allowed_core_dumps: Sequence[str] = ()


EnvironmentProp: TypeAlias = str | Path | FleetEnvironment
"""A name; the path of an environments/ENV.yaml, which ends in .yaml; or props."""


@dataclass(frozen=True)
class EnvironmentSource:
    """An environment that was read, with the place of each of its keys."""

    environment: Environment
    source: Source

    @cached_property
    def deployment(self) -> Deployment:
        """Where its fleet lives."""
        return Deployment.of(self.environment)


def is_name(given: EnvironmentProp | None) -> bool:
    """Whether an environment is given by its name alone."""
    return isinstance(given, str) and not given.endswith(SUFFIX)


def read_environment(scope: Construct, given: EnvironmentProp) -> EnvironmentSource:
    """The environment of a construct.

    Raises:
        FindingsError: it is wrong, or the stack has no account and region, or others.
    """
    stack = Stack.of(scope)
    where = {"account": stack.account, "region": stack.region}
    unknown = [name for name, value in where.items() if Token.is_unresolved(value)]
    if unknown:
        message = f"the {' and the '.join(unknown)} of stack {stack.stack_name!r} are decided by the deploy"
        raise FindingsError([Finding(code="FL609", message=message, hint=REMEDY)])
    if isinstance(given, FleetEnvironment):
        source = source_of_props(_keys(given) | where, {("environment",): "environment.name"}, "environment")
    elif is_name(given):
        source = source_of_props({"environment": given, **where}, {}, "")
    else:
        source = read_source(Path(given))
    environment = validate(Environment, source)
    findings = own_findings(environment, source)
    for name, value in where.items():
        if (named := getattr(environment, name)) != value:
            message = f"{given} has the {name} {named!r}, and stack {stack.stack_name!r} has {value!r}"
            findings.append(
                Finding(code="FL609", message=message, hint="name another environment, or another stack env")
            )
    if findings:
        raise FindingsError(findings)
    return EnvironmentSource(environment, source)


def _keys(given: FleetEnvironment) -> dict[str, object]:
    values = {name: written(value) for name, value in vars(given).items() if name != "name"}
    return {
        "environment": given.name,
        **{name: value for name, value in values.items() if value is not None},
    }
