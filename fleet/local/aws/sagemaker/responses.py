"""SageMaker's API calls that moto does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from moto.core.responses import ActionResult
from moto.sagemaker.responses import SageMakerResponse

if TYPE_CHECKING:
    from fleet.local.aws.sagemaker.backend import EmbeddedSageMaker


class EmbeddedSageMakerResponse(SageMakerResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call."""

    def update_endpoint(self) -> ActionResult:
        """UpdateEndpoint."""
        backend = cast("EmbeddedSageMaker", self.sagemaker_backend)
        endpoint = backend.update_endpoint(
            self._get_param("EndpointName"),
            self._get_param("EndpointConfigName"),
            retain_counts=self._get_param("RetainAllVariantProperties", False),
        )
        return ActionResult({"EndpointArn": endpoint.arn})
