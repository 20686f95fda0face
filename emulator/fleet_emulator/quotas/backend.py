"""The quotas of an account: those that were put in, as nothing here is limited and no default is known."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from moto.servicequotas.models import ServiceQuotasBackend

from fleet_emulator.quotas import responses


class EmbeddedServiceQuotas(ServiceQuotasBackend):
    """One account's Service Quotas in one region; that of a VPC's quotas, one by one, is moto's."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self._quotas: dict[tuple[str, str], dict[str, Any]] = {}

    @property
    def _url_module(self) -> ModuleType:
        return responses

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
