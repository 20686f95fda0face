"""How many instances the quotas of an account leave free for the second fleets of updates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from triton_fleet.aws.access import Access
from triton_fleet.aws.deploy.admission import Headroom, Need
from triton_fleet.aws.preflight.instances import running_instances
from triton_fleet.aws.preflight.quotas import counted_quotas, read_quotas
from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.context.capacity import Capacity, capacity
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import CannotRunError


def headroom(access: Access, endpoints: Sequence[ResolvedEndpoint]) -> Headroom:
    """What deploys of the endpoints need, by quota, and what is free; unlimited where that cannot be read.

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
    running = running_instances(access.client("sagemaker"))
    fleets = [capacity(endpoint.spec, running.of(endpoint.name)) for endpoint in endpoints]
    quotas = counted_quotas(fleets)
    found = read_quotas(access.client("service-quotas"), quotas)
    free = {name: each.value - running.of_others((), quotas[name]) for name, each in found.items()}
    needs = {fleet.endpoint: _need(fleet, quotas) for fleet in fleets}
    return Headroom(needs=needs, free=free, notices=tuple(_notices(needs, free)))


def _need(fleet: Capacity, quotas: Mapping[str, str | None]) -> Need:
    after = {name: fleet.growth(instance_type) for name, instance_type in quotas.items()}
    counted = [name for name, instance_type in quotas.items() if fleet.counts(instance_type)]
    return Need(during={name: max(fleet.added, after[name]) for name in counted}, after=after)


def _notices(needs: Mapping[str, Need], free: Mapping[str, float]) -> list[str]:
    sums = {quota: sum(need.during.get(quota, 0) for need in needs.values()) for quota in free}
    return [
        f"{quota}: {max(0, free[quota]):g} free, {wanted} needed: deploys that need them"
        " run one after another"
        for quota, wanted in sums.items()
        if wanted > free[quota]
    ]
