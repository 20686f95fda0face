"""Whether the account's quotas allow the instances of the endpoints and of their updates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import Any

from fleet.aws.preflight.check_result import CheckResult
from fleet.aws.preflight.instances import MAX_ENDPOINTS, running_instances
from fleet.aws.preflight.subject import Subject
from fleet.catalog.limits import all_instances_quota, instance_quota, quota_service
from fleet.endpoint.context.capacity import Capacity, Demand, capacity, demand
from fleet.findings import Finding
from fleet.spec.problems import dotted_path

NAMED = 3
"""How many endpoints are named in a sentence."""


@dataclass(frozen=True, kw_only=True)
class Quota:
    """A quota of Service Quotas: its name and code, and how many instances it allows."""

    name: str
    code: str
    value: float


def quotas(subject: Subject) -> Iterator[CheckResult]:
    """The quota of each instance type, and that of all types together.

    A quota below the maximum is an error, as scaling would silently stop short of it. An update starts a
    second fleet of as many instances as *run* (a scaled variant keeps their number), not of `scaling.max`,
    and SageMaker refuses it with ResourceLimitExceeded if the quota has no room. So an update without room
    beside what runs now is an error; one without room when all endpoints are scaled out only warns, as it
    works in quieter hours. Before synth it is unknown whether a deploy changes an endpoint, so each is
    assumed to be updated.
    """
    running = running_instances(subject.access.client("sagemaker"))
    specs = {name: loaded.spec for name, loaded in subject.specs.items()}
    fleets = [capacity(spec, running.of(name)) for name, spec in specs.items()]
    if not fleets:
        return
    wanted: dict[str, str | None] = {instance_quota(each.type): each.type for each in fleets}
    wanted[all_instances_quota()] = None
    found = read_quotas(subject.access.client("service-quotas"), wanted)
    for name, instance_type in wanted.items():
        if name in found:
            counted = demand(fleets, running.of_others(specs, instance_type), instance_type)
            ours = [each for each in fleets if each.counts(instance_type)]
            yield _evaluate_quota(subject, found[name], ours, counted)
        else:
            message = f"Service Quotas has no quota with the name {name!r} for {subject.place.account}"
            hint = "check in the console whether it has another name"
            finding = subject.of_environment("FL627", message, hint, warns=True)
            yield CheckResult(what="quota", text=f"{name}: unknown", findings=(finding,))
    if not running.all_seen:
        message = f"there are more than {MAX_ENDPOINTS} endpoints; instances of the oldest are not counted"
        finding = subject.of_environment("FL627", message, "count them in the console", warns=True)
        yield CheckResult(what="quota", text=f"more than {MAX_ENDPOINTS} endpoints", findings=(finding,))


def read_quotas(service_quotas: Any, wanted: Mapping[str, object]) -> dict[str, Quota]:
    """The quotas with these names; SageMaker has thousands, so pages are read only until all are found.

    Raises:
        ClientError: access is denied.
    """
    found: dict[str, Quota] = {}
    for page in service_quotas.get_paginator("list_service_quotas").paginate(ServiceCode=quota_service()):
        for each in page["Quotas"]:
            if each["QuotaName"] in wanted and "Value" in each:
                quota = Quota(name=each["QuotaName"], code=each["QuotaCode"], value=each["Value"])
                found[quota.name] = quota
        if len(found) == len(wanted):
            break
    return found


def _evaluate_quota(subject: Subject, quota: Quota, ours: Sequence[Capacity], counted: Demand) -> CheckResult:
    needs = f"{_needs(ours)}{_in_all(ours, counted)}"
    finding = _finding(subject, quota, ours, counted, f"{quota.name}: the quota is {quota.value:g}; {needs}")
    return CheckResult(
        what="quota",
        text=f"{quota.name}: {quota.value:g}; {needs}",
        findings=(finding,) if finding else (),
    )


def _finding(
    subject: Subject, quota: Quota, ours: Sequence[Capacity], counted: Demand, message: str
) -> Finding | None:
    more = (
        "request more: `aws service-quotas request-service-quota-increase"
        f" --region {subject.place.region} --service-code {quota_service()} --quota-code {quota.code}"
        f" --desired-value {max(counted.update, counted.deploy)}`"
    )
    if counted.rest > quota.value:
        largest = max(ours, key=lambda each: each.most)
        less = _lower(subject, largest, floor(quota.value) - counted.rest + largest.most)
        return subject.of_spec(largest.endpoint, largest.key, "FL625", message, more + less)
    if max(counted.deploy, counted.update) <= quota.value:
        return None
    message += f"; beside the running instances the next deploy needs {counted.deploy}"
    largest = max(ours, key=lambda each: each.beside(each.most))
    batches = "; or replace instances in batches: `rollout: {strategy: rolling, step: ...}`"
    less = batches if largest.batch is None and largest.most > 1 else ""
    key = ("rollout", "strategy") if subject.specs[largest.endpoint].spec.rollout else largest.key
    warns = counted.deploy <= quota.value
    return subject.of_spec(largest.endpoint, key, "FL626", message, more + less, warns=warns)


def _lower(subject: Subject, largest: Capacity, room: int) -> str:
    """A hint with the largest maximum that fits, if it is not below the endpoint's minimum."""
    scaling = subject.specs[largest.endpoint].spec.scaling
    least = 1 if scaling is None else scaling.min
    return f"; or write {room} for `{dotted_path(largest.key)}`" if room >= least else ""


def _needs(ours: Sequence[Capacity]) -> str:
    largest = sorted(ours, key=lambda each: each.most, reverse=True)
    named = [f"{each.endpoint} needs {each.most} at `{dotted_path(each.key)}`" for each in largest[:NAMED]]
    others = largest[NAMED:]
    if others:
        named.append(f"{len(others)} others need {sum(each.most for each in others)}")
    return ", ".join(named)


def _in_all(ours: Sequence[Capacity], counted: Demand) -> str:
    others = f", {counted.others} run for other endpoints" if counted.others else ""
    total = f": {counted.rest} in total" if counted.others or len(ours) > 1 else ""
    return f"{others}{total}, {counted.update} while one is updated"
