"""What in a model configuration needs a GPU, and what it becomes on a machine without one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fleet.local.triton.model_backend import STAND_INS
from fleet.local.triton.model_config import one_line
from fleet.repository.backends import named_backend

Change = tuple[str, str]


def for_cpu(config: Any) -> Iterator[Change]:
    """Change the ModelConfig in place; yield each change as what was and what it became (empty: dropped)."""
    for group in config.instance_group:
        yield from _instance_group(group)
    if not config.instance_group and named_backend(config) in ("onnxruntime", *STAND_INS):
        group = config.instance_group.add(count=1, kind="KIND_CPU")
        # Triton's default for their stand-ins on a CPU is two instances, each with the whole model in memory.
        yield "no instance_group", f"instance_group {{ {one_line(group)} }}"
    yield from _optimization(config)


def _instance_group(group: Any) -> Iterator[Change]:
    kinds = type(group)
    automatic_gpus = group.kind == kinds.KIND_AUTO and group.gpus
    if group.kind != kinds.KIND_GPU and not automatic_gpus:
        return
    was = one_line(group)
    group.kind = kinds.KIND_CPU
    for field in ("gpus", "profile", "secondary_devices"):
        group.ClearField(field)
    if group.count == 0:
        group.count = 1  # the default on a GPU; on a CPU some backends would start two
    yield f"instance_group {{ {was} }}", f"instance_group {{ {one_line(group)} }}"


def _optimization(config: Any) -> Iterator[Change]:
    optimization = config.optimization
    if optimization.HasField("cuda"):
        yield f"optimization {{ cuda {{ {one_line(optimization.cuda)} }} }}", ""
        optimization.ClearField("cuda")
    accelerators = optimization.execution_accelerators
    if accelerators.gpu_execution_accelerator:
        names = ", ".join(each.name for each in accelerators.gpu_execution_accelerator)
        yield f"optimization {{ execution_accelerators {{ gpu_execution_accelerator: {names} }} }}", ""
        accelerators.ClearField("gpu_execution_accelerator")
        if not accelerators.ByteSize():
            optimization.ClearField("execution_accelerators")
    if config.HasField("optimization") and not optimization.ByteSize():
        config.ClearField("optimization")
