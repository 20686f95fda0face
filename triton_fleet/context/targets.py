"""What the archives of a multi-model endpoint are called by."""

from __future__ import annotations

from collections.abc import Mapping

from triton_fleet.spec.endpoint import EndpointSpec


def target_model(archive: str, version: int | None) -> str:
    """What a caller names as TargetModel."""
    return f"{archive}{'' if version is None else f'-v{version}'}.tar.gz"


def target_models(spec: EndpointSpec) -> Mapping[str, str]:
    """The TargetModel of each archive, by its name; copies are archives of their own."""
    return {each.name: target_model(each.name, each.version) for each in spec.packed}
