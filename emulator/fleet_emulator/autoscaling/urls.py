"""Where moto finds Application Auto Scaling's API; the names are moto's."""

from __future__ import annotations

from moto.applicationautoscaling.urls import url_bases

from fleet_emulator.autoscaling.responses import EmbeddedAutoScalingResponse

__all__ = ["url_bases", "url_paths"]

url_paths = {"{0}/$": EmbeddedAutoScalingResponse.dispatch}
