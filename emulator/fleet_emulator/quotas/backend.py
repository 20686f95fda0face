"""The quotas of an account: those that were put in, as nothing here is limited and no default is known."""

from __future__ import annotations

import json
from typing import Any, cast

from moto.servicequotas.models import ServiceQuotasBackend
from moto.servicequotas.responses import ServiceQuotasResponse
from moto.servicequotas.urls import url_bases

from fleet_emulator.service_urls import ServiceUrls

PAGE = 100
"""Quotas on a page where the caller names no number; source: Service Quotas API reference, MaxResults."""


class EmbeddedServiceQuotas(ServiceQuotasBackend):
    """One account's Service Quotas in one region; that of a VPC's quotas, one by one, is moto's."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self._quotas: dict[tuple[str, str], dict[str, Any]] = {}

    @property
    def _url_module(self) -> ServiceUrls:
        return ServiceUrls(url_bases, {"{0}/$": EmbeddedServiceQuotasResponse.dispatch})

    def put(self, service: str, code: str, name: str, value: float) -> None:
        """Let a quota have a value."""
        arn = f"arn:aws:servicequotas:{self.region_name}:{self.account_id}:{service}/{code}"
        self._quotas[service, code] = {
            "ServiceCode": service,
            "QuotaArn": arn,
            "QuotaCode": code,
            "QuotaName": name,
            "Value": float(value),
            "Unit": "None",
            "Adjustable": True,
            "GlobalQuota": False,
        }

    def of_service(self, service: str) -> list[dict[str, Any]]:
        """A service's quotas, in the order in which they were put in."""
        return [quota for (of, _), quota in self._quotas.items() if of == service]


class EmbeddedServiceQuotasResponse(ServiceQuotasResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call."""

    def list_service_quotas(self) -> str:
        """ListServiceQuotas, by pages; a token is the number of those that were on earlier ones."""
        request = json.loads(self.body)
        start, size = int(request.get("NextToken", 0)), request.get("MaxResults", PAGE)
        quotas = cast(EmbeddedServiceQuotas, self.backend).of_service(request["ServiceCode"])
        end = start + size
        more = {"NextToken": str(end)} if end < len(quotas) else {}
        return json.dumps({"Quotas": quotas[start:end], **more})
