"""Where moto finds CodeBuild's API; the names are moto's."""

from __future__ import annotations

from moto.codebuild.urls import url_bases

from fleet_emulator.codebuild.responses import EmbeddedCodeBuildResponse

__all__ = ["url_bases", "url_paths"]

url_paths = {"{0}/$": EmbeddedCodeBuildResponse.dispatch}
