"""Whether the account's quotas allow the instances of the endpoints and of their updates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor
from typing import Any

from triton_fleet.aws.preflight.check_result import CheckResult
from triton_fleet.aws.preflight.instances import MAX_ENDPOINTS, running_instances
from triton_fleet.aws.preflight.subject import Subject
from triton_fleet.catalog.limits import all_instances_quota, instance_quota, quota_service
from triton_fleet.context.capacity import Capacity, Demand, capacity, demand
from triton_fleet.context.machines import Machine, own_machines
from triton_fleet.findings import Finding
from triton_fleet.spec.problems import dotted_path

NAMED = 3
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
    others: int

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
        return demand(self.fleets, self.others, self.type)

    @cached_property
    def certain_demand(self) -> Demand:
        """The instances that count without new instances of the endpoints that fall back to the type."""
        fallbacks = self.fallbacks
        fleets = [fleet for fleet in self.fleets if fleet not in fallbacks]
        return demand(
            fleets, self.others + sum(fallback.runs(self.type) for fallback in fallbacks), self.type
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
    running = running_instances(subject.access.client("sagemaker"))
    specs = {name: loaded.spec for name, loaded in subject.specs.items()}
    fleets = [capacity(spec, running.of(name)) for name, spec in specs.items()]
    if not fleets:
        return
    counted = counted_quotas(fleets)
    found = read_quotas(subject.access.client("service-quotas"), counted)
    for name, instance_type in counted.items():
        if name in found:
            others = running.of_others(specs, instance_type)
            use = QuotaUse(quota=found[name], type=instance_type, fleets=fleets, others=others)
            yield _evaluate_quota(subject, use)
        else:
            message = f"Service Quotas has no quota with the name {name!r} for {subject.deployment.account}"
            hint = "check in the console whether it has another name"
            finding = subject.of_environment("FL627", message, hint, warns=True)
            yield CheckResult(what="quota", text=f"{name}: unknown", findings=(finding,))
    if not running.all_seen:
        message = f"there are more than {MAX_ENDPOINTS} endpoints; instances of the oldest are not counted"
        finding = subject.of_environment("FL627", message, "count them in the console", warns=True)
        yield CheckResult(what="quota", text=f"more than {MAX_ENDPOINTS} endpoints", findings=(finding,))


def counted_quotas(fleets: Sequence[Capacity]) -> dict[str, str | None]:
    """The quotas against which instances of endpoints count, each with its instance type."""
    of_types: dict[str, str | None] = {instance_quota(name): name for fleet in fleets for name in fleet.types}
    return of_types | {all_instances_quota(): None}


def read_quotas(service_quotas: Any, wanted: Mapping[str, object]) -> dict[str, Quota]:
    """The quotas with these names; SageMaker has thousands, so pages are read only until all are found.

    Raises:
        ClientError: access is denied.
    """
    quotas: dict[str, Quota] = {}
    for page in service_quotas.get_paginator("list_service_quotas").paginate(ServiceCode=quota_service()):
        for each in page["Quotas"]:
            if each["QuotaName"] in wanted and "Value" in each:
                quota = Quota(name=each["QuotaName"], code=each["QuotaCode"], value=each["Value"])
                quotas[quota.name] = quota
        if len(quotas) == len(wanted):
            break
    return quotas


def _evaluate_quota(subject: Subject, use: QuotaUse) -> CheckResult:
    needs = f"{_needs(subject, use)}{_in_all(use)}"
    finding = _finding(subject, use, f"{use.quota.name}: the quota is {use.quota.value:g}; {needs}")
    return CheckResult(
        what="quota",
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
    needed = max(max_demand.update, max_demand.deploy)
    more = request_more(subject.deployment.region, quota_service(), use.quota.code, needed)
    if use.direct and certain_demand.rest > value:
        largest = max(use.direct, key=lambda each: each.most)
        less = _lower(subject, largest, floor(value) - certain_demand.rest + largest.most)
        return subject.of_spec(largest.endpoint, largest.key, "FL625", message, more + less)
    if max_demand.rest > value:
        largest = max(use.fallbacks, key=lambda each: each.most)
        message += f"; {NO_FALLBACK if use.has_no_fallback else UNKNOWN_SHARE}"
        path, hint = _pool(subject, use, largest).path, f"{more}; or leave the pool out"
        return subject.of_spec(largest.endpoint, path, "FL625", message, hint, warns=not use.has_no_fallback)
    if max(max_demand.deploy, max_demand.update) <= value:
        return None
    message += f"; beside the running instances the next deploy needs {max_demand.deploy}"
    is_certain = bool(use.direct) and max(certain_demand.deploy, certain_demand.update) > value
    largest = max(use.direct if is_certain else use.fallbacks, key=lambda each: each.beside(each.most))
    batches = "; or replace instances in batches: `rollout: {strategy: rolling, step: ...}`"
    less = batches if largest.batch is None and largest.most > 1 else ""
    key = ("rollout", "strategy") if subject.specs[largest.endpoint].spec.rollout else largest.key
    warns = certain_demand.deploy <= value if is_certain else not use.has_no_fallback
    if not is_certain:
        key = _pool(subject, use, largest).path
        message += f"; {UNKNOWN_SHARE if warns else NO_FALLBACK}"
    return subject.of_spec(largest.endpoint, key, "FL626", message, more + less, warns=warns)


def _lower(subject: Subject, largest: Capacity, room: int) -> str:
    """A hint with the largest maximum that fits, if it is not below the endpoint's minimum."""
    scaling = subject.specs[largest.endpoint].spec.scaling
    least = 1 if scaling is None else scaling.min
    return f"; or write {room} for `{dotted_path(largest.key)}`" if room >= least else ""


def _pool(subject: Subject, use: QuotaUse, endpoint: Capacity) -> Machine:
    """The instance pool in which an endpoint falls back to the quota's type."""
    spec = subject.specs[endpoint.endpoint].spec
    return next(machine for machine in own_machines(spec) if machine.type == use.type)


def _needs(subject: Subject, use: QuotaUse) -> str:
    largest = sorted(use.endpoints, key=lambda each: each.most, reverse=True)
    named = [_need(subject, use, each) for each in largest[:NAMED]]
    others = largest[NAMED:]
    if others:
        named.append(f"{len(others)} others need {sum(each.most for each in others)}")
    return ", ".join(named)


def _need(subject: Subject, use: QuotaUse, endpoint: Capacity) -> str:
    need = f"{endpoint.endpoint} needs {endpoint.most} at `{dotted_path(endpoint.key)}`"
    if not endpoint.falls_back_to(use.type):
        return need
    return f"{need} in {_pool(subject, use, endpoint).label}"


def _in_all(use: QuotaUse) -> str:
    others = f", {use.others} run for other endpoints" if use.others else ""
    total = f": {use.max_demand.rest} in total" if use.others or len(use.endpoints) > 1 else ""
    return f"{others}{total}, {use.max_demand.update} while one is updated"
