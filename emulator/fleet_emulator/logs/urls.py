"""Where moto finds CloudWatch Logs' API; the names are moto's."""

from __future__ import annotations

from moto.logs.urls import url_bases

from fleet_emulator.logs.responses import EmbeddedLogsResponse

__all__ = ["url_bases", "url_paths"]

url_paths = {"{0}/$": EmbeddedLogsResponse.dispatch}
