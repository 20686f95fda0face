"""Where moto finds CloudWatch's API; the names are moto's."""

from __future__ import annotations

from moto.cloudwatch.urls import url_bases

from fleet_emulator.cloudwatch.responses import EmbeddedCloudWatchResponse

__all__ = ["url_bases", "url_paths"]

url_paths = {"{0}/$": EmbeddedCloudWatchResponse.dispatch}
