"""Where moto finds CloudFormation's API; the names are moto's."""

from __future__ import annotations

from moto.cloudformation.urls import url_bases

from fleet_emulator.stacks.responses import EmbeddedCloudFormationResponse

__all__ = ["url_bases", "url_paths"]

url_paths = {"{0}/$": EmbeddedCloudFormationResponse.dispatch}
