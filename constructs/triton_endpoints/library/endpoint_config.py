"""An endpoint configuration of one or several Models, with what their releases and GPUs need."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsii
from aws_cdk import Duration, Resource
from aws_cdk import aws_kms as kms
from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk.interfaces import aws_sagemaker as interfaces
from constructs import Construct

from triton_endpoints.endpoint.sagemaker_endpoint import production_variant
from triton_endpoints.library.environment import report
from triton_endpoints.library.prop_types import has_right_types
from triton_endpoints.library.sagemaker_model import SageMakerModel, facts_of
from triton_fleet.endpoint.resolved_endpoint import VARIANT, ResolvedEndpoint
from triton_fleet.findings import Finding


@dataclass(frozen=True, kw_only=True)
class Variant:
    """Instances of one Model.

    Attributes:
        model: The Model; its `instance` is the variant's.
        name: Default: the name of the variant of a TritonEndpoint, by which alarms and scaling know it.
        weight: Its share of the calls is the weight by the sum of all weights.
        model_download: How long the download of the model data may take; default: SageMaker's own.
        startup: How long the container may take until it answers pings; default: SageMaker's own.
    """

    model: SageMakerModel
    name: str = VARIANT
    weight: float = 1
    model_download: Duration | None = None
    startup: Duration | None = None


@jsii.implements(interfaces.IEndpointConfigRef)
class TritonEndpointConfig(Resource):
    """An endpoint configuration for an endpoint of the app's own.

    Each variant has the host image that the release of its Model needs on its GPU, and routes calls to the
    instance with the fewest open ones. CloudFormation names it, so that any change replaces it, as SageMaker
    requires.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        variants: Sequence[Variant],
        volume_key: kms.IKey | None = None,
        detailed_observability: bool = False,
        capture: sagemaker.CfnEndpointConfig.DataCaptureConfigProperty | Mapping[str, Any] | None = None,
    ) -> None:
        """Declare the configuration.

        Args:
            scope: The parent.
            id: The construct's own.
            variants: The variants, each with another name.
            volume_key: The key of the instances' volumes, unused for local storage; default: AWS's own.
            detailed_observability: SageMaker's own collector of metrics, which is billed.
            capture: Which calls are captured, and where; default: none.
        """
        super().__init__(scope, id)
        self._config: sagemaker.CfnEndpointConfig | None = None
        if not has_right_types(self, TritonEndpointConfig, locals()):
            return
        names = [variant.name for variant in variants]
        if len(set(names)) < len(names):
            message = f"two variants are named {max(names, key=names.count)!r}"
            finding = Finding(code="FL112", message=message, file=Path("variants"), hint="give each `name=`")
            report(self, [finding])
        facts = [endpoint for variant in variants if (endpoint := facts_of(variant.model))]
        if len(facts) < len(variants):
            return  # the Models themselves report why
        self._config = sagemaker.CfnEndpointConfig(
            self,
            "Resource",
            production_variants=[_properties(*pair) for pair in zip(variants, facts, strict=True)],
            kms_key_id=volume_key.key_arn if volume_key else None,
            data_capture_config=dict(capture) if isinstance(capture, Mapping) else capture,
            # New configurations have detailed observability on by default, and it is billed.
            metrics_config=sagemaker.CfnEndpointConfig.MetricsConfigProperty(
                enable_detailed_observability=detailed_observability, enable_enhanced_metrics=False
            ),
        )

    @property
    def endpoint_config_name(self) -> str:
        """The EndpointConfigName for an endpoint."""
        return self._config.attr_endpoint_config_name if self._config else "unresolved"

    @property
    def endpoint_config_ref(self) -> interfaces.EndpointConfigReference:
        """The reference by which generated constructs of the CDK take a configuration."""
        return interfaces.EndpointConfigReference(
            endpoint_config_arn=self._config.ref if self._config else "unresolved"
        )


def _properties(
    variant: Variant, endpoint: ResolvedEndpoint
) -> sagemaker.CfnEndpointConfig.ProductionVariantProperty:
    times = [time.to_seconds() if time else None for time in (variant.model_download, variant.startup)]
    return production_variant(
        name=variant.name,
        model_name=variant.model.model_name,
        endpoint=endpoint,
        weight=variant.weight,
        model_download=times[0],
        startup=times[1],
    )
