"""Whether a model runs on a GPU by its configuration, and whether its backend can.

Sources: tensorrt_backend, src/instance_state.cc, and openvino_backend, src/openvino.cc, ModelInstanceState.
"""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.backends import Backend
from triton_fleet.findings import Finding
from triton_fleet.repository.config.message import ParsedConfig


def runs_on_gpu(config: ParsedConfig) -> bool | None:
    """Whether an instance is on a GPU on every machine; None where that depends on the machine."""
    kinds = {config.enum(group, "kind") for group in config.message.instance_group}
    if "KIND_GPU" in kinds:
        return True
    return None if not kinds or "KIND_AUTO" in kinds else False


def backend_kinds(config: ParsedConfig, facts: Backend) -> Iterator[Finding]:
    """Instance groups of a kind that the backend does not run."""
    for index, group in enumerate(config.message.instance_group):
        kind = config.enum(group, "kind")
        if facts.kinds and kind not in facts.kinds:
            message = facts.kinds_said.format(model=config.name)
            hint = f"write `kind: {facts.kinds[-1]}`"
            yield config.finding("FL459", message, "instance_group", index, "kind", hint=hint)
