"""The environment of a construct, read from props or a file, and the findings about it."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

import jsii
from aws_cdk import Annotations, Stack, Stage, Tags
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sqs as sqs
from constructs import Construct, IConstruct, IValidation

from triton_endpoints.library.keys import yaml_value
from triton_endpoints.library.props import Keys
from triton_endpoints.library.values import RUNS, Values, is_token, paths_of
from triton_fleet.endpoint.environment import own_findings
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.project.reader import read_source
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.problems import dotted_path, validate
from triton_fleet.spec.source import KeyPath, Mark, Source


def source_of_props(data: dict[str, object], names: Mapping[KeyPath, str], root: str) -> Source:
    """A document without a file.

    Args:
        data: What a file would hold.
        names: What a prop is called whose name is not its key, by the key's path.
        root: What stands before all other keys; empty for props of the construct itself.
    """
    prefix = f"{root}." if root else ""
    marks = {path: _mark(prop_name(path, names, prefix), value) for path, value in paths_of(data)}
    return Source(Path(root), data, {**marks, (): _mark(root, None)})


def prop_name(path: KeyPath, names: Mapping[KeyPath, str], prefix: str = "") -> str:
    """The prop of a key: `instance.type`."""
    for end in range(len(path), 0, -1):
        if path[:end] in names:
            below = dotted_path(path[end:])
            joint = "." if below and not below.startswith("[") else ""
            return f"{names[path[:end]]}{joint}{below}"
    return f"{prefix}{dotted_path(path)}"


def _mark(name: str, value: object) -> Mark:
    # A prop stands in no line: line and column 0 are not shown.
    number = str(value) if isinstance(value, int | float) else ""
    return Mark(Path(name), 0, 0, number)


@jsii.implements(IValidation)
class _Problems:
    """Sentences that make a synth fail; the CDK collects those of all constructs."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts

    def validate(self) -> list[str]:
        """The messages."""
        return self._texts


CLI = "CDK_OUTDIR"
"""A variable that the CDK CLI sets for the app."""
_errors: defaultdict[str, list[str]] = defaultdict(list)
"""The errors of constructs, by their references."""


def report(construct: Construct, findings: Iterable[Finding]) -> None:
    """Let errors fail the synth at the construct's path, and warnings be annotations to acknowledge.

    Under the CDK CLI, errors are annotations too: it prints them without a traceback, and then fails. In a
    stage of the app it reads only those of stacks that a command names. There and elsewhere, such as in
    `Template.from_stack`, nobody may read annotations, and a validation raises.
    """
    unique_findings = list(dict.fromkeys(findings))
    if errors := [text(finding) for finding in unique_findings if finding.severity is Severity.ERROR]:
        _errors[reference(construct)] += errors
        stage = Stage.of(construct)
        if CLI in os.environ and (stage is None or not stage.node.path):
            for error in errors:
                Annotations.of(construct).add_error(error)
        else:
            construct.node.add_validation(_Problems(errors))
    for finding in unique_findings:
        if finding.severity is Severity.WARNING:
            Annotations.of(construct).add_warning_v2(f"triton-fleet:{finding.code}", text(finding))


def is_wrong(construct: Construct) -> bool:
    """Whether errors of a construct will fail the synth."""
    return bool(_errors[reference(construct)])


def invalid_props(*constructs: Construct) -> ValueError:
    """An error with what the synth will report of constructs, for what these cannot give."""
    lines = [
        f"[{construct.node.path}] {line}"
        for construct in constructs
        for line in _errors[reference(construct)]
    ]
    return ValueError("\n".join(lines))


def reference(construct: IConstruct) -> str:
    """The identity of a construct: an object that the CDK made itself is a new one for each look."""
    return str(construct.__jsii_ref__.ref)  # type: ignore[attr-defined]


_PHRASES: Mapping[str, str] = {
    r", the same as the file's": "",
    r"Name, as in .* stack names\.": "write lower-case letters and digits, with single hyphens between them",
    r"environments/[a-z0-9-]+\.yaml": "the environment",
}
"""Phrases about files, and those in their place where props are wrong."""


def text(finding: Finding) -> str:
    """One finding as a line: place, code, message, remedy."""
    location = f"{finding.place}: " if finding.place not in ("", ".") else ""
    hint = f"; remedy: {finding.hint}" if finding.hint else ""
    line = f"{finding.code} {finding.message}{hint}"
    if finding.line == 0:
        for phrase, words in _PHRASES.items():
            line = re.sub(phrase, words, line)
    return f"{location}{line}"


SUFFIX = ".yaml"
_HYPHENED_NAME = re.compile(r"(?=.{3,15}$)[a-z][a-z0-9]*(-[a-z0-9]+)+")
"""A name that a fleet's environment cannot have: there, hyphens separate the parts of stacks' names."""


@dataclass(frozen=True, kw_only=True)
class FleetEnvironment:
    """An environment by plain props, as environments/ENV.yaml has them; account and region are the stack's.

    Attributes:
        name: Lower-case letters and digits, at most 16; names in the account begin with it.
        tags: Tags of everything that is deployed.
        kms_key: The key of the artifact bucket, of captured calls, log groups and volumes, or its ARN.
        permissions_boundary: The policy that bounds every role, or its ARN.
        notifications: Email addresses, and queues and functions or their ARNs, by severity.
        runbook: Where your copy of docs/runbook.md is.
        dashboards: Whether each endpoint has a dashboard.
        engine_builds: Where and how TensorRT engines are built.
        allowed_roles: Roles that a raw `ExecutionRoleArn` may name, or their ARNs.
        allowed_registries: Accounts and hosts that a raw `Image` may be of.
        allowed_invokers: Accounts, and roles or their ARNs, that may be invokers; default: the account's own
            roles.
        allowed_networks: Subnets and security groups that a spec file may name; those of a prop `vpc` are
            allowed.
        protected_tags: Keys of tags that only `tags` of the environment may set.
        shell_access: Whether raw properties may switch on EnableSSMAccess.
        allowed_core_dumps: Prefixes in S3 below which raw properties may have core dumps written.
    """

    name: str
    tags: Mapping[str, str] = field(default_factory=dict)
    kms_key: str | kms.IKey | None = None
    permissions_boundary: str | iam.IManagedPolicy | None = None
    notifications: Mapping[Literal["warning", "critical"], Sequence[str | sqs.IQueue | lambda_.IFunction]] = (
        field(default_factory=dict)
    )
    runbook: str | None = None
    dashboards: bool = True
    engine_builds: Keys = field(default_factory=dict)
    allowed_roles: Sequence[str | iam.IRole] = ()
    allowed_registries: Sequence[str] = ()
    allowed_invokers: Sequence[str | iam.IRole] | None = None
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
    values: Values = field(default_factory=Values)
    runs: tuple[tuple[Environment, Source], ...] = ()
    """The environment with each of the stand-ins for `values`; empty where it has none."""

    @cached_property
    def deployment(self) -> Deployment:
        """Where its fleet lives."""
        if not self.runs:
            return Deployment.of(self.environment)
        first, second = (Deployment.of(environment) for environment, _ in self.runs[:2])
        return self.values.put_back(first, second)


def is_name(prop: EnvironmentProp | None) -> bool:
    """Whether an environment is given by its name alone."""
    return isinstance(prop, str) and not prop.endswith(SUFFIX)


def read_environment(scope: Construct, prop: EnvironmentProp) -> EnvironmentSource:
    """The environment of a construct.

    Raises:
        FindingsError: it is wrong, or the stack has another account or region.
    """
    stack = Stack.of(scope)
    account_and_region = {"account": stack.account, "region": stack.region}
    values = Values()
    names: Mapping[KeyPath, str] = {}
    if isinstance(prop, Path) or (isinstance(prop, str) and not is_name(prop)):
        sources = [read_source(Path(prop))]
    else:
        keys: dict[str, object] = {"environment": prop}
        root = ""
        if isinstance(prop, FleetEnvironment):
            keys, root = _keys(prop), "environment"
        names = {("environment",): "environment.name"} if root else {}
        prefix = f"{root}." if root else ""
        documents = values.documents(
            {**keys, **account_and_region},
            lambda path: prop_name(path, names, prefix),
            _name_stand_ins(str(keys["environment"]), prop_name(("environment",), names, prefix)),
        )
        sources = [source_of_props(document, names, root) for document in documents]

    def read(number: int) -> Environment:
        environment = validate(Environment, sources[number])
        findings = own_findings(environment, sources[number])
        for name, value in account_and_region.items():
            own_value = getattr(environment, name)
            if own_value != value and not is_token(value):
                message = f"{prop} has the {name} {own_value!r}, and stack {stack.stack_name!r} has {value!r}"
                hint = "name another environment, or another stack env"
                findings.append(Finding(code="FL609", message=message, hint=hint))
        if findings:
            raise FindingsError(findings)
        return environment

    environments = values.run(read, len(sources))
    runs = tuple(zip(environments, sources, strict=True)) if len(sources) > 1 else ()
    return EnvironmentSource(environments[0], sources[0], values, runs)


def _name_stand_ins(name: str, prop: str) -> Mapping[KeyPath, Sequence[str]]:
    """Stand-ins for an environment's name that a file could not have.

    Raises:
        FindingsError: the name is a token.
    """
    if is_token(name):
        hint = "write the name: those of functions, topics and buckets follow from it"
        finding = Finding(code="FL112", message=f"`{prop}` is a token", hint=hint, file=Path(prop))
        raise FindingsError([finding])
    if not _HYPHENED_NAME.fullmatch(name):
        return {}
    return {("environment",): [f"{name.replace('-', 'x')}{run}" for run in range(RUNS)]}


def _keys(props: FleetEnvironment) -> dict[str, object]:
    values = {name: yaml_value(value) for name, value in vars(props).items() if name != "name"}
    return {"environment": props.name, **{name: value for name, value in values.items() if value is not None}}


OWN_PREFIX = "triton-fleet:"
OWN_PRIORITY = 1000
"""Above what the CDK gives to tags that are added (100) and removed (200) by the app."""


def tag(construct: Construct, tags: Mapping[str, str]) -> None:
    """Tag everything below a construct; of the app's own keys the app's values win below it, of ours ours."""
    for name, value in tags.items():
        if name.startswith(OWN_PREFIX):
            Tags.of(construct).add(name, value, priority=OWN_PRIORITY)
        else:
            Tags.of(construct).add(name, value)


def bound_roles(construct: Construct, deployment: Deployment) -> None:
    """Bound every role below a construct, where the environment has a boundary."""
    if arn := deployment.permissions_boundary:
        policy = iam.ManagedPolicy.from_managed_policy_arn(construct, "Boundary", arn)
        iam.PermissionsBoundary.of(construct).apply(policy)
