"""An endpoint as DescribeEndpoint shows it, and as its host is told to serve it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moto.core.utils import utcnow
from moto.sagemaker.models import FakeEndpoint, FakeEndpointConfig, Model

from fleet.local.aws.sagemaker.model_data import FILES, SINGLE_FILE, data_form, data_url
from fleet.local.hosting import DeployedContainer, DeployedEndpoint, HostingError

_COUNTS = ("CurrentInstanceCount", "DesiredInstanceCount", "CurrentWeight", "DesiredWeight")


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
            data_capture_config=config.data_capture_config,
            tags=tags,
        )
        self.endpoint_status = "Creating"
        self.failure_reason: str | None = None  # type: ignore[assignment]  # moto endpoints never fail

    def is_created(self) -> bool:
        """What moto asks of a model; it is created when its host serves it."""
        return not self.in_progress

    @property
    def in_progress(self) -> bool:
        """Whether its host is at work on it."""
        return self.endpoint_status not in ("InService", "Failed")

    def settle(self, status: str, failure_reason: str | None = None) -> None:
        """End what was in progress."""
        self.endpoint_status = status
        self.failure_reason = failure_reason
        self.last_modified_time = utcnow()

    def take_over(self, config: FakeEndpointConfig, *, retain_counts: bool) -> None:
        """Show another configuration, whose variants may retain the counts and weights of the old one's."""
        old = {variant["VariantName"]: variant for variant in self.production_variants}
        self.endpoint_config_name = config.endpoint_config_name
        self.data_capture_config = config.data_capture_config
        self.production_variants = self._process_production_variants(config.production_variants)
        if retain_counts:
            for variant in self.production_variants:
                before = old.get(variant["VariantName"], {})
                variant.update({key: before[key] for key in _COUNTS if key in before})


def deployed_endpoint(name: str, config: FakeEndpointConfig, models: dict[str, Model]) -> DeployedEndpoint:
    """What the host is to serve: the first variant's model with its first container.

    Raises:
        HostingError: its data is a single file, of which no model repository can be made.
    """
    variant = config.production_variants[0]
    model = models[variant["ModelName"]]
    containers: Sequence[dict[str, Any]] = (
        [model.primary_container] if model.primary_container else model.containers
    )
    container = containers[0]
    form = data_form(container)
    if form == SINGLE_FILE:
        raise HostingError(f"{data_url(container)} is a single file, not a model repository or its archive")
    return DeployedEndpoint(
        name=name,
        config_name=config.endpoint_config_name,
        variant_name=variant["VariantName"],
        container=DeployedContainer(
            model_name=model.model_name,
            image=container.get("Image", ""),
            mode=container.get("Mode", "SingleModel"),
            model_data_url=data_url(container),
            environment=dict(container.get("Environment", {})),
            files=form == FILES,
        ),
    )
