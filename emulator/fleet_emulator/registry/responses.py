"""ECR's API calls that moto does not know, or answers with what is no longer valid."""

from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, cast

from moto.core.responses import ActionResult
from moto.ecr.responses import ECRResponse
from moto.ecr.urls import url_bases

if TYPE_CHECKING:
    from fleet_emulator.registry.backend import EmbeddedEcr

__all__ = ["EmbeddedEcrResponse", "url_bases", "url_paths"]

HOURS_OF_A_TOKEN = 12
"""Source: ECR's API reference, GetAuthorizationToken."""


class EmbeddedEcrResponse(ECRResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call."""

    def get_download_url_for_layer(self) -> ActionResult:  # type: ignore[override]
        """GetDownloadUrlForLayer."""
        digest = self._get_param("layerDigest")
        backend = cast("EmbeddedEcr", self.ecr_backend)
        url = backend.download_url(self._get_param("repositoryName"), digest, self._get_param("registryId"))
        return ActionResult({"downloadUrl": url, "layerDigest": digest})

    def get_authorization_token(self) -> ActionResult:
        """GetAuthorizationToken; no registry answers to the token."""
        token = b64encode(b"AWS:a stand-in: no registry answers to it").decode()
        end = datetime.now(UTC) + timedelta(hours=HOURS_OF_A_TOKEN)
        registries = self._get_param("registryIds") or [self.current_account]
        return ActionResult(
            {
                "authorizationData": [
                    {
                        "authorizationToken": token,
                        "expiresAt": end,
                        "proxyEndpoint": f"https://{registry}.dkr.ecr.{self.region}.amazonaws.com",
                    }
                    for registry in registries
                ]
            }
        )


url_paths = {"{0}/$": EmbeddedEcrResponse.dispatch}
"""Where moto finds the API, as `url_bases`; the names are moto's."""
