"""The variants and metrics of an endpoint configuration, compared with SageMaker's documentation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from moto.sagemaker.exceptions import ValidationError
from moto.sagemaker.models import FakeEndpointConfig, Model

from fleet_emulator.product import property_at
from fleet_emulator.sagemaker.constraints import arn_of, require_shape

Variant = Mapping[str, Any]


class EmbeddedEndpointConfig(FakeEndpointConfig):
    """An endpoint configuration with its shadow variants and metrics.

    What moto refuses of variants is checked before.
    """

    def __init__(
        self,
        *,
        shadow_production_variants: Sequence[Variant],
        metrics_config: Mapping[str, Any] | None,
        **config: Any,
    ) -> None:
        super().__init__(**config)
        place = config["account_id"], config["region_name"]
        self.endpoint_config_arn = arn_of("endpoint-config", self.endpoint_config_name, *place)
        self.shadow_production_variants = list(shadow_production_variants) or None
        self.metrics_config = metrics_config

    def is_created(self) -> bool:
        """Answer moto, which asks each model."""
        return True

    def validate_production_variants(self, production_variants: list[dict[str, Any]]) -> None:
        """Nothing: moto knows neither instance pools nor the types after g4dn."""


def require_variants(
    production: Sequence[Variant],
    shadows: Sequence[Variant],
    models: Mapping[str, Model],
    *,
    account: str,
    region: str,
) -> None:
    """Refuse variants of which SageMaker makes no configuration.

    Raises:
        ValidationError: shapes, enums and a missing model are worded as SageMaker words them.
    """
    require_shape("ProductionVariantList", production, "productionVariants")
    if shadows:
        require_shape("ProductionVariantList", shadows, "shadowProductionVariants")
        if len(production) > 1 or len(shadows) > 1:
            raise ValidationError(
                "With ShadowProductionVariants, one variant can be specified for ProductionVariants and one"
                " for ShadowProductionVariants."
            )
    for variant in (*production, *shadows):
        _require_instances(variant)
        for name in model_names(variant):
            if name not in models:
                arn = arn_of("model", name, account, region)
                raise ValidationError(f'Could not find model "{arn}".')
    for key, variants in (
        ("InstancePools", [shadow for shadow in (*production, *shadows) if shadow.get("InstancePools")]),
        ("ShadowProductionVariants", (*production, *shadows) if shadows else ()),
    ):
        if any(_is_multi_model(models[name]) for item in variants for name in model_names(item)):
            raise ValidationError(f"{key} cannot be used with multi-model endpoints.")


def require_metrics(metrics: Mapping[str, Any]) -> None:
    """Refuse a MetricsConfig that SageMaker does not document.

    Botocore has the allowed numbers in its prose alone; CloudFormation's schema has them as an enum.

    Raises:
        ValidationError: a member is of another type, or has a value that is not allowed.
    """
    require_shape("MetricsConfig", metrics, "metricsConfig")
    for name, value in metrics.items():
        allowed_values = property_at("EndpointConfig", ("MetricsConfig", name)).property.allowed_values
        if allowed_values and value not in allowed_values:
            place = f"metricsConfig.{name[0].lower()}{name[1:]}"
            raise ValidationError(
                f"1 validation error detected: Value '{value}' at '{place}' failed to satisfy constraint: "
                f"Member must satisfy enum value set: [{', '.join(map(str, allowed_values))}]"
            )


def pools_of(variant: Variant) -> list[Variant]:
    """Its instance pools, the first to be tried first."""
    return sorted(variant.get("InstancePools", ()), key=lambda pool: int(pool["Priority"]))


def model_names(variant: Variant) -> Iterator[str]:
    """The models of a variant: that of the pool which is tried first, those of further pools, its own."""
    own = variant.get("ModelName")
    for pool in pools_of(variant):
        if name := pool.get("ModelNameOverride", own):
            yield name
    if own:
        yield own


def _require_instances(variant: Variant) -> None:
    """Refuse a variant without instances, or with both ways to specify them."""
    name = variant["VariantName"]
    if "InstancePools" in variant and "InstanceType" in variant:
        raise ValidationError(f"InstanceType and InstancePools cannot both be specified for variant {name}.")
    if not {"InstancePools", "InstanceType", "ServerlessConfig"} & variant.keys():
        raise ValidationError(f"InstanceType or InstancePools must be specified for variant {name}.")


def _is_multi_model(model: Model) -> bool:
    containers = [model.primary_container] if model.primary_container else model.containers
    return any(container.get("Mode") == "MultiModel" for container in containers)
