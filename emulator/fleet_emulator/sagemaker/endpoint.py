"""An endpoint as DescribeEndpoint shows it, and as its host serves it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from moto.core.utils import utcnow
from moto.sagemaker.models import FakeEndpoint, FakeEndpointConfig, Model

from fleet_emulator import process_state
from fleet_emulator.hosting import DeployedContainer, DeployedEndpoint, EndpointId, HostingError
from fleet_emulator.process_state import turn
from fleet_emulator.sagemaker.constraints import arn_of
from fleet_emulator.sagemaker.deployment import Retention
from fleet_emulator.sagemaker.model_data import FILES, SINGLE_FILE, data_form, data_url
from fleet_emulator.sagemaker.variants import EmbeddedEndpointConfig, model_names, pools_of

_FINAL_STATUSES = ("InService", "Failed", "UpdateRollbackFailed")


class EmbeddedEndpoint(FakeEndpoint):
    """An endpoint whose status follows what its host makes of it."""

    def __init__(
        self, config: FakeEndpointConfig, *, name: str, account_id: str, region: str, tags: Any
    ) -> None:
        super().__init__(
            account_id=account_id,
            region_name=region,
            endpoint_name=name,
            endpoint_config_name=config.endpoint_config_name,
            production_variants=config.production_variants,
            data_capture_config=_capture(config),  # type: ignore[arg-type]  # moto never leaves it out
            tags=tags,
        )
        self.id = EndpointId(account=account_id, region=region, name=name)
        self.arn = arn_of("endpoint", name, account_id, region)
        self.endpoint_status = "Creating"
        self.failure_reason: str | None = None  # type: ignore[assignment]  # moto endpoints never fail
        self.last_deployment_config: Mapping[str, Any] | None = None
        self.config_in_update: str | None = None
        self.hosted_endpoint: DeployedEndpoint | None = None

    def is_created(self) -> bool:
        """Answer moto, which asks each model; it is created when its host serves it."""
        return not self.in_progress

    @property
    def in_progress(self) -> bool:
        """Whether its host is at work on it."""
        return self.endpoint_status not in _FINAL_STATUSES

    @property
    def response_object(self) -> dict[str, Any]:
        """The answer of DescribeEndpoint; the variants of an update in progress are left out."""
        answer: dict[str, Any] = super().response_object
        answer["ProductionVariants"] = [
            _with_pools(production_variant) for production_variant in self.production_variants
        ]
        if self.config_in_update:
            answer["PendingDeploymentSummary"] = {"EndpointConfigName": self.config_in_update}
        return answer

    def uses(self, config_name: str) -> bool:
        """Whether it needs the configuration, or will after the update in progress."""
        if self.endpoint_status == "Failed":
            return False
        names = (self.endpoint_config_name, self.config_in_update or "")
        return config_name.lower() in map(str.lower, names)

    def settle(self, status: str, failure_reason: str | None = None) -> None:
        """End what was in progress."""
        self.endpoint_status = status
        self.failure_reason = failure_reason
        self.config_in_update = None
        self.last_modified_time = utcnow()

    def scale(self, before: Mapping[str, Mapping[str, Any]], on_end: Callable[[], None]) -> None:
        """Be Updating, with the old instances and weights, until the new ones serve; then call `on_end`."""
        self.endpoint_status = "Updating"
        for variant in self.production_variants:
            old = before[variant["VariantName"]]
            variant.update({name: old[name] for name in old if variant[name] is None})
            variant.update({name: old[name] for name in old if name.startswith("Current")})
        host = process_state.current().host

        def finish() -> None:
            host.scale(self.id)
            with turn():
                self._end_scaling()
                on_end()

        process_state.current().spawn(finish, name=f"scaling of {self.endpoint_name}")

    def _end_scaling(self) -> None:
        for variant in self.production_variants:
            for name in ("InstanceCount", "Weight"):
                if f"Desired{name}" in variant:
                    variant[f"Current{name}"] = variant[f"Desired{name}"]
        self.settle("InService")

    def take_over(self, config: FakeEndpointConfig, retention: Retention) -> None:
        """Show another configuration, with what is retained of the old one."""
        old = {variant["VariantName"]: variant for variant in self.production_variants}
        self.endpoint_config_name = config.endpoint_config_name
        if not retention.capture:
            self.data_capture_config = _capture(config)  # type: ignore[assignment]
        self.production_variants = self._process_production_variants(config.production_variants)
        for variant in self.production_variants:
            variant.update(retention.of_variant(old.get(variant["VariantName"], {})))

    def _process_production_variants(self, production_variants: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The variants as DescribeEndpoint shows them; moto loses a weight of 0, and the default of 1."""
        variants = super()._process_production_variants(production_variants)
        for variant, source in zip(variants, production_variants, strict=True):
            weight = float(source.get("InitialVariantWeight", 1))
            variant.update(CurrentWeight=weight, DesiredWeight=weight)
            if pools := pools_of(source):
                variant["InstancePools"] = [{"InstanceType": pool["InstanceType"]} for pool in pools]
        return variants


def _with_pools(variant: Mapping[str, Any]) -> dict[str, Any]:
    """The variant with the number of instances in each of its pools: all are in the first."""
    first, *further = variant.get("InstancePools", [{}])
    if not first:
        return dict(variant)
    pools = [{**first, "CurrentInstanceCount": variant["CurrentInstanceCount"]}]
    return {**variant, "InstancePools": pools + [{**pool, "CurrentInstanceCount": 0} for pool in further]}


def _capture(config: FakeEndpointConfig) -> dict[str, Any] | None:
    """DataCaptureConfigSummary, which is not written like DataCaptureConfig; None without capture."""
    settings = config.data_capture_config
    if not settings:
        return None
    is_enabled = settings.get("EnableCapture", False) in (True, "true")
    return {
        "EnableCapture": is_enabled,
        "CaptureStatus": "Started" if is_enabled else "Stopped",
        "CurrentSamplingPercentage": settings.get("InitialSamplingPercentage"),
        "DestinationS3Uri": settings.get("DestinationS3Uri"),
        "KmsKeyId": settings.get("KmsKeyId", ""),
    }


def deployed_endpoint(
    endpoint: EmbeddedEndpoint, config: EmbeddedEndpointConfig, models: dict[str, Model]
) -> DeployedEndpoint:
    """The endpoint for the host: the first container of the first variant's model, or of its first pool's.

    Raises:
        HostingError: the model was deleted after the configuration was made, or its data is a single file, of
            which no model repository can be made.
    """
    variant = config.production_variants[0]
    name_of_model = next(model_names(variant))
    if name_of_model not in models:
        raise HostingError(f'Could not find model "{name_of_model}".')
    model = models[name_of_model]
    containers: Sequence[dict[str, Any]] = (
        [model.primary_container] if model.primary_container else model.containers
    )
    container = containers[0]
    form = data_form(container)
    if form == SINGLE_FILE:
        raise HostingError(f"{data_url(container)} is a single file, not a model repository or its archive")
    return DeployedEndpoint(
        id=endpoint.id,
        config_name=config.endpoint_config_name,
        variant_name=variant["VariantName"],
        role=model.execution_role_arn,
        unlike=tuple(unlike(model, config)),
        tags={tag["Key"]: tag["Value"] for tag in endpoint.tags or ()},
        container=DeployedContainer(
            model_name=model.model_name,
            image=container.get("Image", ""),
            mode=container.get("Mode", "SingleModel"),
            model_data_url=data_url(container),
            environment=dict(container.get("Environment", {})),
            files=form == FILES,
        ),
    )


def unlike(model: Model, config: EmbeddedEndpointConfig) -> Iterator[str]:
    """Each as a sentence of `fleet local status`: capture, network, keys, pools and shadow variants."""
    if config.data_capture_config:
        yield f"data capture to {config.data_capture_config.get('DestinationS3Uri')}: no call is captured"
    if model.vpc_config:
        subnets = ", ".join(model.vpc_config.get("Subnets", []))
        yield f"subnets {subnets}: the container is in this machine's network"
    if model.enable_network_isolation:
        yield "network isolation: the container reaches whatever this machine reaches"
    if pools := ", ".join(pool["InstanceType"] for pool in pools_of(config.production_variants[0])):
        yield f"instance pools {pools}: what the first serves is on this machine"
    for shadow in config.shadow_production_variants or ():
        yield f"shadow variant {shadow['VariantName']}: no call is copied to it"
    if config.kms_key_id:
        yield f"key {config.kms_key_id}: nothing is encrypted"
