"""What the metrics catalog knows an endpoint as."""

from __future__ import annotations

from triton_fleet.catalog.instances import Instance
from triton_fleet.spec.endpoint import Mode


def kinds(mode: Mode, machine: Instance) -> frozenset[str]:
    """The catalog's words for it: "all", with "gpu" and "multi-model" where an endpoint is that."""
    held = {"all": True, "gpu": machine.gpus > 0, "multi-model": mode is Mode.MULTI_MODEL}
    return frozenset(kind for kind, fits in held.items() if fits)
