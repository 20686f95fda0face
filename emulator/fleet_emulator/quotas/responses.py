"""Service Quotas' API calls that moto does not know."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from moto.servicequotas.responses import ServiceQuotasResponse
from moto.servicequotas.urls import url_bases

if TYPE_CHECKING:
    from fleet_emulator.quotas.backend import EmbeddedServiceQuotas

__all__ = ["EmbeddedServiceQuotasResponse", "url_bases", "url_paths"]

PAGE = 100
"""Quotas on a page where the caller names no number; source: Service Quotas API reference, MaxResults."""


class EmbeddedServiceQuotasResponse(ServiceQuotasResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call."""

    def list_service_quotas(self) -> str:
        """ListServiceQuotas, by pages; a token is the number of those that were on earlier ones."""
        asked = json.loads(self.body)
        start, size = int(asked.get("NextToken", 0)), asked.get("MaxResults", PAGE)
        quotas = cast("EmbeddedServiceQuotas", self.backend).of_service(asked["ServiceCode"])
        end = start + size
        more = {"NextToken": str(end)} if end < len(quotas) else {}
        return json.dumps({"Quotas": quotas[start:end], **more})


url_paths = {"{0}/$": EmbeddedServiceQuotasResponse.dispatch}
"""Where moto finds the API, as `url_bases`; the names are moto's."""
