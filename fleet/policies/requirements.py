"""What a statement requires of an endpoint."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.endpoint.context.rollout import rollback_alarms
from fleet.endpoint.context.tags import endpoint_tags
from fleet.policies.breach import Breach
from fleet.policies.scope import listed
from fleet.policies.subject import Subject
from fleet.spec.policy import Requirements, Statement
from fleet.spec.problems import dotted_path
from fleet.spec.source import KeyPath


def requirement_breaches(statement: Statement, subject: Subject) -> Iterator[Breach]:
    """What an endpoint lacks of `require` and `tags`."""
    if statement.require is not None:
        yield from _owner(statement.require, subject)
        yield from _min_instances(statement.require, subject)
        yield from _rollout(statement.require, subject)
        yield from _vpc(statement.require, subject)
        yield from _kms_key(statement.require, subject)
        yield from _samples(statement.require, subject)
        yield from _log_retention(statement.require, subject)
    tags = endpoint_tags(subject.environment, subject.loaded.spec)
    for tag in statement.tags:
        if tag not in tags:
            yield Breach(
                key="tags",
                code="FL959",
                path=("tags",),
                found=f"there is no tag `{tag}`",
                rule=f"requires {listed([f'`{each}`' for each in statement.tags])}",
                remedy=f"write `tags: {{{tag}: VALUE}}`",
            )


def _owner(require: Requirements, subject: Subject) -> Iterator[Breach]:
    if require.owner and subject.team is None:
        yield _unmet("owner", ("owner",), "`owner` is missing", "requires it", "write `owner: {team: TEAM}`")


def _min_instances(require: Requirements, subject: Subject) -> Iterator[Breach]:
    spec, fewest = subject.loaded.spec, require.min_instances
    count: dict[KeyPath, int] = {("instance", "count"): spec.instance.count}
    for path, number in (spec.scaling.floors if spec.scaling else count).items():
        if number < fewest:
            found = f"`{dotted_path(path)}` is {number}"
            yield _unmet(
                "min_instances", path, found, f"requires {fewest} instances", f"write {fewest} or more"
            )


def _rollout(require: Requirements, subject: Subject) -> Iterator[Breach]:
    spec, strategies = subject.loaded.spec, [each.value for each in require.rollout]
    if not (strategies or require.rollback_alarms):
        return
    key = "rollout" if strategies else "rollback_alarms"
    if raw := subject.raw_property("Endpoint", "DeploymentConfig"):
        found = f"the raw property {raw.name} decides the rollout, which `rollout` has to"
        yield _unmet(key, raw.path, found, "checks `rollout` alone", "write `rollout` instead")
    strategy = spec.rollout.strategy if spec.rollout else None
    if strategies and strategy not in require.rollout:
        found = "`rollout` is missing" if strategy is None else f"`rollout.strategy` is {strategy}"
        remedy = f"write `rollout: {{strategy: {strategies[0]}}}`"
        yield _unmet(
            "rollout", ("rollout", "strategy"), found, f"requires {listed(strategies, 'or')}", remedy
        )
    if require.rollback_alarms and not (spec.rollout and rollback_alarms(spec, spec.rollout)):
        found = (
            "no alarm rolls back an update" if spec.rollout else "without `rollout`, nothing is rolled back"
        )
        remedy = "write `rollout: {rollback_on: [errors]}`"
        yield _unmet("rollback_alarms", ("rollout", "rollback_on"), found, "requires an alarm", remedy)


def _vpc(require: Requirements, subject: Subject) -> Iterator[Breach]:
    if not require.vpc:
        return
    for resource in ("Model", "EndpointConfig"):
        if raw := subject.raw_property(resource, "VpcConfig"):
            found = f"the raw property {raw.name} decides the network, which `network` has to"
            yield _unmet("vpc", raw.path, found, "checks `network` alone", "write `network` instead")
    if not subject.loaded.spec.network.subnets:
        found, remedy = "the containers are in SageMaker's own network", "write `network.subnets`"
        yield _unmet(
            "vpc", ("network", "subnets"), found, "requires subnets", f"{remedy} and `security_groups`"
        )


def _kms_key(require: Requirements, subject: Subject) -> Iterator[Breach]:
    if not require.kms_key:
        return
    if raw := subject.raw_property("EndpointConfig", "KmsKeyId"):
        found = f"the raw property {raw.name} decides the key, which `kms_key` of the environment has to"
        yield _unmet("kms_key", raw.path, found, "checks `kms_key` alone", "leave it out")
    if subject.environment.kms_key is None:
        found = f"the environment {subject.environment.environment!r} has no `kms_key`"
        yield _unmet("kms_key", ("kms_key",), found, "requires one", "write its ARN", of_environment=True)


def _samples(require: Requirements, subject: Subject) -> Iterator[Breach]:
    number = len(subject.loaded.spec.samples)
    if number < require.samples:
        found = f"`samples` has {number} calls" if number else "`samples` is missing"
        remedy = f"write {require.samples} or more under `samples`"
        yield _unmet("samples", ("samples",), found, f"requires {require.samples}", remedy)


def _log_retention(require: Requirements, subject: Subject) -> Iterator[Breach]:
    days, fewest = subject.loaded.spec.logs.retention_days, require.log_retention_days
    if days < fewest:
        found, remedy = f"`logs.retention_days` is {days}", f"write {fewest} or more"
        yield _unmet(
            "log_retention_days", ("logs", "retention_days"), found, f"requires {fewest} days", remedy
        )


def _unmet(
    key: str, path: KeyPath, found: str, rule: str, remedy: str, *, of_environment: bool = False
) -> Breach:
    return Breach(
        key=f"require.{key}",
        code="FL990",
        path=path,
        found=found,
        rule=rule,
        remedy=remedy,
        of_environment=of_environment,
    )
