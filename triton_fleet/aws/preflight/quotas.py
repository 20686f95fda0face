"""Checks that the quotas of an account allow the instances of endpoints and updates, and its functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor
from typing import Any

from triton_fleet.aws.access import Access
from triton_fleet.aws.deploy.worker_pool import Headroom, Need
from triton_fleet.aws.preflight.instances import MAX_ENDPOINTS, running_instances
from triton_fleet.aws.preflight.subject import CheckResult, Subject
from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.catalog.limits import all_instances_quota, instance_quota, quota_service
from triton_fleet.context.capacity import DEFAULT_CONCURRENCY, Capacity, Demand, capacity, demand
from triton_fleet.context.machines import Machine, own_machines
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import CannotRunError, Finding
from triton_fleet.spec.problems import dotted_path

MAX_ENDPOINT_NAMES = 3
"""How many endpoints are named in a sentence."""
NO_FALLBACK = "SageMaker refuses an endpoint that names a type without free quota, also as a fallback"
UNKNOWN_SHARE = "it is not known how many of them SageMaker counts for a pool"


@dataclass(frozen=True, kw_only=True)
class Quota:
    """A quota of Service Quotas: its name and code, and how many instances it allows."""

    name: str
    code: str
    value: float


@dataclass(frozen=True, kw_only=True)
class QuotaUse:
    """A quota with the instances of the fleets and of other endpoints; `type` None is that of all types."""

    quota: Quota
    type: str | None
    fleets: Sequence[Capacity]
    foreign_count: int

    @property
    def endpoints(self) -> list[Capacity]:
        """The endpoints whose new instances count against the quota."""
        return [fleet for fleet in self.fleets if fleet.counts(self.type)]

    @property
    def fallbacks(self) -> list[Capacity]:
        """Those of them that only fall back to the type, in an instance pool."""
        return [fleet for fleet in self.fleets if fleet.falls_back_to(self.type)]

    @property
    def direct(self) -> list[Capacity]:
        """Those of them that certainly need all their instances of the type."""
        return [endpoint for endpoint in self.endpoints if not endpoint.falls_back_to(self.type)]

    @cached_property
    def max_demand(self) -> Demand:
        """The instances that count if SageMaker counts all instances of an endpoint for each of its pools."""
        return demand(self.fleets, self.foreign_count, self.type)

    @cached_property
    def certain_demand(self) -> Demand:
        """The instances that count without new instances of the endpoints that fall back to the type."""
        fallbacks = self.fallbacks
        fleets = [fleet for fleet in self.fleets if fleet not in fallbacks]
        return demand(
            fleets, self.foreign_count + sum(fallback.runs(self.type) for fallback in fallbacks), self.type
        )

    @property
    def has_no_fallback(self) -> bool:
        """Whether the quota has no room for one instance that is started in a pool."""
        return self.certain_demand.deploy + 1 > self.quota.value


def quotas(subject: Subject) -> Iterator[CheckResult]:
    """The quota of each instance type, those of instance pools too, and that of all types together.

    A quota below the maximum is an error, as scaling would silently stop short of it. An update starts a
    second fleet of as many instances as *run* (a scaled variant keeps their number), not of `scaling.max`,
    and SageMaker refuses it with ResourceLimitExceeded if the quota has no room. So an update without room
    beside what runs now is an error; one without room when all endpoints are scaled out only warns, as it
    works in quieter hours. Before synth it is unknown whether a deploy changes an endpoint, so each is
    assumed to be updated.

    SageMaker falls back from one pool to the next for want of capacity, not of quota, so that a pool's type
    without free quota is an error. How many instances it counts for a pool is not known, so that too little
    free quota of such a type only warns. Source: SageMaker's hosting examples, capacity-aware-instance-pool.
    """
    instances = running_instances(subject.access.client("sagemaker"))
    specs = {name: loaded_spec.spec for name, loaded_spec in subject.specs.items()}
    fleets = [capacity(spec, instances.of(name)) for name, spec in specs.items()]
    if not fleets:
        return
    types_by_quota = counted_quotas(fleets)
    quota_by_name = read_quotas(subject.access.client("service-quotas"), types_by_quota)
    for name, instance_type in types_by_quota.items():
        if name in quota_by_name:
            foreign_count = instances.count_foreign(specs, instance_type)
            use = QuotaUse(
                quota=quota_by_name[name], type=instance_type, fleets=fleets, foreign_count=foreign_count
            )
            yield _evaluate_quota(subject, use)
        else:
            message = f"Service Quotas has no quota with the name {name!r} for {subject.deployment.account}"
            hint = "check in the console whether it has another name"
            finding = subject.of_environment("FL627", message, hint, warns=True)
            yield CheckResult(title="quota", text=f"{name}: unknown", findings=(finding,))
    if not instances.is_complete:
        message = f"there are more than {MAX_ENDPOINTS} endpoints; instances of the oldest are not counted"
        finding = subject.of_environment("FL627", message, "count them in the console", warns=True)
        yield CheckResult(title="quota", text=f"more than {MAX_ENDPOINTS} endpoints", findings=(finding,))


def counted_quotas(fleets: Sequence[Capacity]) -> dict[str, str | None]:
    """The quotas against which instances of endpoints count, each with its instance type."""
    of_types: dict[str, str | None] = {instance_quota(name): name for fleet in fleets for name in fleet.types}
    return of_types | {all_instances_quota(): None}


def read_quotas(service_quotas: Any, names: Mapping[str, object]) -> dict[str, Quota]:
    """The quotas with these names; SageMaker has thousands, so pages are read only until all are found.

    Raises:
        ClientError: access is denied.
    """
    quotas: dict[str, Quota] = {}
    for page in service_quotas.get_paginator("list_service_quotas").paginate(ServiceCode=quota_service()):
        for entry in page["Quotas"]:
            if entry["QuotaName"] in names and "Value" in entry:
                quota = Quota(name=entry["QuotaName"], code=entry["QuotaCode"], value=entry["Value"])
                quotas[quota.name] = quota
        if len(quotas) == len(names):
            break
    return quotas


def _evaluate_quota(subject: Subject, use: QuotaUse) -> CheckResult:
    needs = f"{_needs(subject, use)}{_total_text(use)}"
    finding = _finding(subject, use, f"{use.quota.name}: the quota is {use.quota.value:g}; {needs}")
    return CheckResult(
        title="quota",
        text=f"{use.quota.name}: {use.quota.value:g}; {needs}",
        findings=(finding,) if finding else (),
    )


def request_more(region: str, service: str, code: str, value: int) -> str:
    """The remedy for a quota that is too small: the command that requests `value`."""
    return (
        f"request more: `aws service-quotas request-service-quota-increase --region {region}"
        f" --service-code {service} --quota-code {code} --desired-value {value}`"
    )


def _finding(subject: Subject, use: QuotaUse, message: str) -> Finding | None:
    value, max_demand, certain_demand = use.quota.value, use.max_demand, use.certain_demand
    demand = max(max_demand.update, max_demand.deploy)
    more = request_more(subject.deployment.region, quota_service(), use.quota.code, demand)
    if use.direct and certain_demand.rest > value:
        largest = max(use.direct, key=lambda fleet: fleet.max_instances)
        less = _lower(subject, largest, floor(value) - certain_demand.rest + largest.max_instances)
        return subject.of_spec(largest.endpoint, largest.key, "FL625", message, more + less)
    if max_demand.rest > value:
        largest = max(use.fallbacks, key=lambda fleet: fleet.max_instances)
        message += f"; {NO_FALLBACK if use.has_no_fallback else UNKNOWN_SHARE}"
        path, hint = _pool(subject, use, largest).path, f"{more}; or leave the pool out"
        return subject.of_spec(largest.endpoint, path, "FL625", message, hint, warns=not use.has_no_fallback)
    if max(max_demand.deploy, max_demand.update) <= value:
        return None
    message += f"; beside the running instances the next deploy needs {max_demand.deploy}"
    is_certain = bool(use.direct) and max(certain_demand.deploy, certain_demand.update) > value
    largest = max(
        use.direct if is_certain else use.fallbacks, key=lambda fleet: fleet.beside(fleet.max_instances)
    )
    batches = "; or replace instances in batches: `rollout: {strategy: rolling, step: ...}`"
    less = batches if largest.batch is None and largest.max_instances > 1 else ""
    key = ("rollout", "strategy") if subject.specs[largest.endpoint].spec.rollout else largest.key
    warns = certain_demand.deploy <= value if is_certain else not use.has_no_fallback
    if not is_certain:
        key = _pool(subject, use, largest).path
        message += f"; {UNKNOWN_SHARE if warns else NO_FALLBACK}"
    return subject.of_spec(largest.endpoint, key, "FL626", message, more + less, warns=warns)


def _lower(subject: Subject, largest: Capacity, room: int) -> str:
    """A hint with the largest maximum that fits, if it is not below the endpoint's minimum."""
    scaling = subject.specs[largest.endpoint].spec.scaling
    minimum = 1 if scaling is None else scaling.min
    return f"; or write {room} for `{dotted_path(largest.key)}`" if room >= minimum else ""


def _pool(subject: Subject, use: QuotaUse, endpoint: Capacity) -> Machine:
    """The instance pool in which an endpoint falls back to the quota's type."""
    spec = subject.specs[endpoint.endpoint].spec
    return next(machine for machine in own_machines(spec) if machine.type == use.type)


def _needs(subject: Subject, use: QuotaUse) -> str:
    largest = sorted(use.endpoints, key=lambda fleet: fleet.max_instances, reverse=True)
    parts = [_need(subject, use, fleet) for fleet in largest[:MAX_ENDPOINT_NAMES]]
    rest = largest[MAX_ENDPOINT_NAMES:]
    if rest:
        parts.append(f"{len(rest)} others need {sum(fleet.max_instances for fleet in rest)}")
    return ", ".join(parts)


def _need(subject: Subject, use: QuotaUse, endpoint: Capacity) -> str:
    need = f"{endpoint.endpoint} needs {endpoint.max_instances} at `{dotted_path(endpoint.key)}`"
    if not endpoint.falls_back_to(use.type):
        return need
    return f"{need} in {_pool(subject, use, endpoint).label}"


def _total_text(use: QuotaUse) -> str:
    foreign_text = f", {use.foreign_count} run for other endpoints" if use.foreign_count else ""
    total = f": {use.max_demand.rest} in total" if use.foreign_count or len(use.endpoints) > 1 else ""
    return f"{foreign_text}{total}, {use.max_demand.update} while one is updated"


EXECUTIONS_PER_STACK = 4
"""Two custom resources of a stack at a time; the CDK's function waits for ours in each.

An estimate: no public source states how many CloudFormation starts at once (docs/unverified.md).
"""
EXECUTIONS_QUOTA = ("lambda", "L-B99A9384")
"""Concurrent executions. Source: repost.aws, knowledge-center/lambda-concurrency-limit-increase."""


def functions(subject: Subject) -> Iterator[CheckResult]:
    """The concurrent executions that are left to functions without reserved ones, where stacks run at once.

    AWS gives new accounts as few as 10. What CloudFormation does when Lambda throttles is not known, so too
    few are a warning.
    """
    stacks = min(len(subject.endpoints), DEFAULT_CONCURRENCY)
    if stacks < 2:
        return
    limits = subject.access.client("lambda").get_account_settings()["AccountLimit"]
    free, demand = limits["UnreservedConcurrentExecutions"], stacks * EXECUTIONS_PER_STACK
    text = f"{free} concurrent executions of Lambda; {stacks} stacks at once need about {demand}"
    if free >= demand:
        yield CheckResult(title="functions", text=text)
        return
    concurrency = max(1, free // EXECUTIONS_PER_STACK)
    more = request_more(subject.deployment.region, *EXECUTIONS_QUOTA, 1000)
    hint = f"`fleet deploy --env {subject.deployment.environment} --concurrency {concurrency}`; or {more}"
    finding = subject.of_environment("FL638", text, hint, warns=True)
    yield CheckResult(title="functions", text=text, findings=(finding,))


def headroom(access: Access, endpoints: Sequence[ResolvedEndpoint]) -> Headroom:
    """The demand of deploys by quota, and the free instances; unlimited where that cannot be read.

    Whether a changed stack replaces the endpoint's instances is not known before its deploy, so each is
    assumed to.
    """
    try:
        with aws_errors_as_findings():
            return _headroom(access, endpoints)
    except CannotRunError as error:
        notice = f"the quotas cannot be read, so they do not limit parallel deploys: {error.problem}"
        return Headroom(notices=(notice,))


def _headroom(access: Access, endpoints: Sequence[ResolvedEndpoint]) -> Headroom:
    instances = running_instances(access.client("sagemaker"))
    fleets = [capacity(endpoint.spec, instances.of(endpoint.name)) for endpoint in endpoints]
    quotas = counted_quotas(fleets)
    quota_by_name = read_quotas(access.client("service-quotas"), quotas)
    free = {
        name: quota.value - instances.count_foreign((), quotas[name]) for name, quota in quota_by_name.items()
    }
    needs = {fleet.endpoint: _endpoint_need(fleet, quotas) for fleet in fleets}
    return Headroom(needs=needs, free=free, notices=tuple(_notices(needs, free)))


def _endpoint_need(fleet: Capacity, quotas: Mapping[str, str | None]) -> Need:
    after = {name: fleet.growth(instance_type) for name, instance_type in quotas.items()}
    quota_names = [name for name, instance_type in quotas.items() if fleet.counts(instance_type)]
    return Need(peak={name: max(fleet.added_count, after[name]) for name in quota_names}, after=after)


def _notices(needs: Mapping[str, Need], free: Mapping[str, float]) -> list[str]:
    sums = {quota: sum(need.peak.get(quota, 0) for need in needs.values()) for quota in free}
    return [
        f"{quota}: {max(0, free[quota]):g} free, {demand} needed: deploys that need them"
        " run one after another"
        for quota, demand in sums.items()
        if demand > free[quota]
    ]
