"""Shapes of botocore's service models."""

from __future__ import annotations

from functools import cache
from typing import Any

from catalog_refresh.package import AbsentSourceError, Package


def shape(botocore: Package, service: str, name: str) -> dict[str, Any]:
    """One shape of the newest API version of a service.

    Raises:
        AbsentSourceError: botocore has no such service or shape.
    """
    model_shape = _shapes(botocore, service).get(name)
    if model_shape is None:
        raise AbsentSourceError(f"{botocore} has no shape {name} of {service}")
    return dict(model_shape)


@cache
def _shapes(botocore: Package, service: str) -> dict[str, Any]:
    folder = botocore.folder / "botocore/data" / service
    versions = sorted(version_folder.name for version_folder in folder.iterdir()) if folder.is_dir() else []
    if not versions:
        raise AbsentSourceError(f"{botocore} has no service {service}")
    return dict(botocore.read_json(f"botocore/data/{service}/{versions[-1]}/service-2.json")["shapes"])
