"""Where moto finds SageMaker's API; the names are moto's."""

from __future__ import annotations

from moto.sagemaker.urls import url_bases

from fleet_emulator.sagemaker.responses import EmbeddedSageMakerResponse

__all__ = ["url_bases", "url_paths"]

url_paths = {"{0}/$": EmbeddedSageMakerResponse.dispatch}
