"""The quotas on the instances of endpoints: Service Quotas has those that it was given, and no default."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, cast

from moto.sagemaker.exceptions import SagemakerClientError
from moto.sagemaker.models import FakeEndpointConfig, SageMakerModelBackend
from moto.servicequotas.models import servicequotas_backends

from fleet_emulator.product import all_instances_quota, instance_quota
from fleet_emulator.quotas.backend import EmbeddedServiceQuotas
from fleet_emulator.sagemaker.deployment import Config as DeploymentConfig
from fleet_emulator.sagemaker.deployment import Retention
from fleet_emulator.sagemaker.endpoint import EmbeddedEndpoint
from fleet_emulator.sagemaker.variants import EmbeddedEndpointConfig, Variant, pools_of

_SERVICE = "sagemaker"
_WORDS = (
    "The account-level service limit '{name}' is {most:g} Instances, with current utilization of {used}"
    " Instances and a request delta of {delta} Instances. Please use AWS Service Quotas to request an"
    " increase for this quota. If AWS Service Quotas is not available, contact AWS support to request an"
    " increase for this quota."
)


class ResourceLimitExceeded(SagemakerClientError):
    """SageMaker's refusal of instances beyond a quota."""

    code = "ResourceLimitExceeded"


@dataclass(frozen=True)
class VariantInstances:
    """The instances of a variant, and the types that they may be of; here they are of the first."""

    count: int
    types: tuple[str, ...]


def first_instances(config: FakeEndpointConfig) -> list[VariantInstances]:
    """The instances that a new endpoint starts."""
    return [VariantInstances(_first_count(variant), _types(variant)) for variant in _variants(config)]


def second_instances(
    endpoint: EmbeddedEndpoint,
    config: FakeEndpointConfig,
    retention: Retention,
    deployment: DeploymentConfig | None,
) -> list[VariantInstances]:
    """The instances that an update starts beside the running ones: a fleet, or the largest rolling batch.

    That this counts against the quota beside what runs is inferred.
    """
    running = {
        production_variant["VariantName"]: retention.of_variant(production_variant)
        for production_variant in endpoint.production_variants
    }
    batch = (deployment or {}).get("RollingUpdatePolicy", {}).get("MaximumBatchSize")
    started = list[VariantInstances]()
    for variant in _variants(config):
        count = running.get(variant["VariantName"], {}).get("DesiredInstanceCount", _first_count(variant))
        if batch is not None:
            share = batch["Value"] * count / 100 if batch["Type"] == "CAPACITY_PERCENT" else batch["Value"]
            count = min(count, ceil(share))
        started.append(VariantInstances(count, _types(variant)))
    return started


def require_quotas(sagemaker: SageMakerModelBackend, started: Sequence[VariantInstances]) -> None:
    """Refuse instances beyond a quota; all instances of a variant count for each of its pools.

    Raises:
        ResourceLimitExceeded: in SageMaker's words.
    """
    place = servicequotas_backends[sagemaker.account_id][sagemaker.region_name]
    quotas = cast(EmbeddedServiceQuotas, place).of_service(_SERVICE)
    limits = {quota["QuotaName"]: quota["Value"] for quota in quotas}
    running = list(_running_instances(sagemaker))
    for name, instance_type in _counted(started):
        used = sum(each.count for each in running if instance_type in (None, *each.types[:1]))
        delta = sum(each.count for each in started if instance_type in (None, *each.types))
        if delta and used + delta > limits.get(name, used + delta):
            raise ResourceLimitExceeded(_WORDS.format(name=name, most=limits[name], used=used, delta=delta))


def _running_instances(sagemaker: SageMakerModelBackend) -> Iterator[VariantInstances]:
    """The instances of the account's endpoints."""
    for endpoint in sagemaker.endpoints.values():
        if endpoint.endpoint_status == "Failed":
            continue
        shown: dict[Any, int] = {
            production_variant["VariantName"]: _count(production_variant)
            for production_variant in endpoint.production_variants
        }
        for variant in _variants(sagemaker.endpoint_configs[endpoint.endpoint_config_name]):
            yield VariantInstances(shown.get(variant["VariantName"], _first_count(variant)), _types(variant))


def _counted(started: Sequence[VariantInstances]) -> Iterator[tuple[str, str | None]]:
    """Each quota that the instances count against, with the type that it is of."""
    for instance_type in dict.fromkeys(name for each in started for name in each.types):
        yield instance_quota(instance_type), instance_type
    yield all_instances_quota(), None


def _variants(config: FakeEndpointConfig) -> list[Variant]:
    shadows = cast(EmbeddedEndpointConfig, config).shadow_production_variants
    return [*config.production_variants, *(shadows or ())]


def _types(variant: Variant) -> tuple[str, ...]:
    pools = tuple(each["InstanceType"] for each in pools_of(variant))
    return pools or ((variant["InstanceType"],) if "InstanceType" in variant else ())


def _first_count(variant: Variant) -> int:
    return int(variant.get("InitialInstanceCount", 0))


def _count(variant: Variant) -> int:
    return max(int(variant.get(key) or 0) for key in ("CurrentInstanceCount", "DesiredInstanceCount"))
