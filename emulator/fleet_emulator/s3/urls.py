"""Where moto finds S3's API; the names are moto's."""

from __future__ import annotations

from moto.s3.urls import url_bases
from moto.s3.urls import url_paths as moto_paths

from fleet_emulator.s3.responses import EmbeddedS3Response

__all__ = ["url_bases", "url_paths"]

url_paths = {path: getattr(EmbeddedS3Response, dispatch.__name__) for path, dispatch in moto_paths.items()}
