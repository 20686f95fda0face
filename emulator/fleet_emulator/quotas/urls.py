"""Where moto finds Service Quotas' API; the names are moto's."""

from __future__ import annotations

from moto.servicequotas.urls import url_bases

from fleet_emulator.quotas.responses import EmbeddedServiceQuotasResponse

__all__ = ["url_bases", "url_paths"]

url_paths = {"{0}/$": EmbeddedServiceQuotasResponse.dispatch}
