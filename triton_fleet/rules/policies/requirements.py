"""Requirements of a statement on an endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_fleet.catalog.security_fixes import SecurityFix
from triton_fleet.context.context import endpoint_tags
from triton_fleet.context.rollout import MIN_BAKE_SECONDS, rollback_alarms
from triton_fleet.context.security_fixes import fix_names, security_gap
from triton_fleet.core.formats import count_of
from triton_fleet.rules.policies.breach import Breach
from triton_fleet.rules.policies.file import join_words
from triton_fleet.rules.policies.limits import unproved_release
from triton_fleet.rules.policies.subject import Subject
from triton_fleet.spec.policy import Requirements, SecurityFixes, Statement
from triton_fleet.spec.problems import dotted_path
from triton_fleet.spec.rollout import Strategy
from triton_fleet.spec.source import KeyPath

PROPOSALS = {
    Strategy.ALL_AT_ONCE: "{strategy: all-at-once}",
    Strategy.CANARY: "{strategy: canary, canary: 50%}",
    Strategy.LINEAR: "{strategy: linear, step: 50%}",
    Strategy.ROLLING: "{strategy: rolling, step: 50%}",
}
"""A rollout of each strategy that passes the rules."""
TAG_RESOURCES = ("Model", "EndpointConfig", "Endpoint")
"""The resources whose raw `Tags` would replace the tags of the spec and the environment."""
REPLACES_COUNT = ("ProductionVariants.*.InitialInstanceCount", "ProductionVariants.*.ManagedInstanceScaling")
"""The raw properties by which a variant has another number of instances than the spec."""


def requirement_breaches(statement: Statement, subject: Subject) -> Iterator[Breach]:
    """The keys of `require` and `tags` that an endpoint breaks."""
    if statement.require is not None:
        yield from _owner(statement.require, subject)
        yield from _min_instances(statement.require, subject)
        yield from _rollout(statement.require, subject)
        yield from _vpc(statement.require, subject)
        yield from _kms_key(statement.require, subject)
        yield from _samples(statement.require, subject)
        yield from _log_retention(statement.require, subject)
    if statement.tags:
        yield from _tags(statement, subject)


def _tags(statement: Statement, subject: Subject) -> Iterator[Breach]:
    rule = f"requires {join_words([f'`{tag}`' for tag in statement.tags])}"
    tags = endpoint_tags(subject.project.environment, subject.loaded_spec.spec)
    for tag in statement.tags:
        if not tags.get(tag, "").strip():
            is_empty = tag in subject.loaded_spec.spec.tags
            observation = f"the tag `{tag}` is empty" if tag in tags else f"there is no tag `{tag}`"
            path: KeyPath = ("tags", tag) if is_empty else ("tags",)
            remedy = f"write `tags: {{{tag}: VALUE}}`"
            yield Breach(
                key="tags", code="FL959", path=path, observation=observation, rule=rule, remedy=remedy
            )
    for resource in TAG_RESOURCES:
        for raw in subject.raw_properties(resource, "Tags"):
            yield Breach(
                key="tags",
                code="FL959",
                path=raw.path,
                observation=f"the raw property {raw.name} of {resource} replaces `tags`",
                rule=rule,
                remedy="write `tags` instead",
            )


def _owner(require: Requirements, subject: Subject) -> Iterator[Breach]:
    if require.owner and subject.team is None:
        yield _unmet("owner", ("owner",), "`owner` is missing", "requires it", "write `owner: {team: TEAM}`")


def _min_instances(require: Requirements, subject: Subject) -> Iterator[Breach]:
    spec, fewest = subject.loaded_spec.spec, require.min_instances
    if not fewest:
        return
    count: dict[KeyPath, int] = {("instance", "count"): spec.instance.count}
    rule = f"requires {count_of(fewest, 'instance')}"
    for path, number in (spec.scaling.floors if spec.scaling else count).items():
        if number < fewest:
            observation = f"`{dotted_path(path)}` is {number}"
            yield _unmet("min_instances", path, observation, rule, f"write {fewest} or more")
    yield from _replacements(subject, "min_instances", "instance.count", "EndpointConfig", REPLACES_COUNT)


def _rollout(require: Requirements, subject: Subject) -> Iterator[Breach]:
    spec, strategies = (
        subject.loaded_spec.spec,
        [strategy_of_policy.value for strategy_of_policy in require.rollout],
    )
    for key, is_required in (("rollout", strategies), ("rollback_alarms", require.rollback_alarms)):
        if is_required:
            raws = ("DeploymentConfig", "RetainDeploymentConfig")
            yield from _replacements(subject, key, "rollout", "Endpoint", raws)
    strategy = spec.rollout.strategy if spec.rollout else None
    if strategies and strategy not in require.rollout:
        observation = "`rollout` is missing" if strategy is None else f"`rollout.strategy` is {strategy}"
        remedy = f"write `rollout: {PROPOSALS[require.rollout[0]]}`"
        rule = f"requires {join_words(strategies, 'or')}"
        yield _unmet("rollout", ("rollout", "strategy"), observation, rule, remedy)
    if require.rollback_alarms:
        yield from _rollback_alarms(subject)


def _rollback_alarms(subject: Subject) -> Iterator[Breach]:
    spec = subject.loaded_spec.spec
    path: KeyPath = ("rollout", "rollback_on")
    alarms = rollback_alarms(spec, spec.rollout) if spec.rollout else ()
    remedy = "write `rollout: {rollback_on: [errors]}`"
    if not spec.rollout:
        observation = "without `rollout`, nothing is rolled back"
        remedy = f"write `rollout: {PROPOSALS[Strategy.CANARY]}`"
    elif not alarms:
        observation = "no alarm rolls back an update"
    elif not any(alarm.can_fire(spec) for alarm in alarms):
        path, observation = ("alarms",), "no alarm that rolls back an update can fire"
        remedy = "write lower thresholds under `alarms`"
    elif spec.rollout.bake < MIN_BAKE_SECONDS:
        path, remedy = ("rollout", "bake"), f"write `bake: {MIN_BAKE_SECONDS}s` or more"
        observation = f"`rollout.bake` is {spec.rollout.bake}s, but the alarms evaluate {MIN_BAKE_SECONDS}s"
    else:
        return
    yield _unmet(
        "rollback_alarms", path, observation, "requires an alarm that can roll back an update", remedy
    )


def _vpc(require: Requirements, subject: Subject) -> Iterator[Breach]:
    if not require.vpc:
        return
    for resource in ("Model", "EndpointConfig"):
        yield from _replacements(subject, "vpc", "network", resource, ("VpcConfig",))
    if not subject.loaded_spec.spec.network.subnets:
        observation, remedy = "the containers are in SageMaker's own network", "write `network.subnets`"
        yield _unmet(
            "vpc", ("network", "subnets"), observation, "requires subnets", f"{remedy} and `security_groups`"
        )


def _kms_key(require: Requirements, subject: Subject) -> Iterator[Breach]:
    if not require.kms_key:
        return
    yield from _replacements(subject, "kms_key", "kms_key", "EndpointConfig", ("KmsKeyId",), "leave it out")
    if subject.project.environment.kms_key is None:
        observation = f"the environment {subject.project.environment.environment!r} has no `kms_key`"
        yield _unmet(
            "kms_key", ("kms_key",), observation, "requires one", "write its ARN", of_environment=True
        )


def _samples(require: Requirements, subject: Subject) -> Iterator[Breach]:
    number = len(subject.loaded_spec.spec.samples)
    if number < require.samples:
        observation = f"`samples` has {count_of(number, 'call')}" if number else "`samples` is missing"
        remedy = f"write {require.samples} or more under `samples`"
        rule = f"requires {count_of(require.samples, 'sample')}"
        yield _unmet("samples", ("samples",), observation, rule, remedy)


def _log_retention(require: Requirements, subject: Subject) -> Iterator[Breach]:
    days, fewest = subject.loaded_spec.spec.logs.retention_days, require.log_retention_days
    if days < fewest:
        observation, rule = f"`logs.retention_days` is {days}", f"requires {count_of(fewest, 'day')}"
        path = ("logs", "retention_days")
        yield _unmet("log_retention_days", path, observation, rule, f"write {fewest} or more")


def _replacements(
    subject: Subject, key: str, own: str, resource: str, properties: Sequence[str], remedy: str = ""
) -> Iterator[Breach]:
    """Raw properties that replace a key which the policy looks at."""
    for raw in subject.raw_properties(resource, *properties):
        observation = f"the raw property {raw.name} replaces `{own}`"
        yield _unmet(key, raw.path, observation, f"accepts only `{own}`", remedy or f"write `{own}` instead")


def _unmet(
    key: str, path: KeyPath, observation: str, rule: str, remedy: str, *, of_environment: bool = False
) -> Breach:
    return Breach(
        key=f"require.{key}",
        code="FL990",
        path=path,
        observation=observation,
        rule=rule,
        remedy=remedy,
        of_environment=of_environment,
    )


KEY = "require.security_fixes"


def security_breaches(statement: Statement, subject: Subject) -> Iterator[Breach]:
    """The fixes that a statement requires and the release of an endpoint lacks."""
    fixes = statement.require.security_fixes if statement.require else None
    if fixes is None:
        return
    rule = f"requires {_rule_text(fixes)}"
    yield from unproved_release(subject, KEY, "FL996", rule)
    gap = security_gap(subject.locked_context)
    missing_fixes = [fix for fix in gap.missing_fixes if _is_required(fix, fixes)] if gap else []
    if gap is not None and missing_fixes:
        yield Breach(
            key=KEY,
            code="FL996",
            path=("triton",),
            observation=f"Triton {gap.release} lacks {fix_names(missing_fixes)}",
            rule=rule,
            remedy=gap.remedy(missing_fixes),
        )


def _is_required(fix: SecurityFix, fixes: SecurityFixes) -> bool:
    by_severity = fixes.severity is not None and fix.severity.rank >= fixes.severity.rank
    return by_severity or fix.id in fixes.fixes


def _rule_text(fixes: SecurityFixes) -> str:
    severity = fixes.severity
    parts = [] if severity is None else [f"security fixes of severity {severity} or worse"]
    parts += [f"the fix {fix}" for fix in fixes.fixes]
    return join_words(parts)
