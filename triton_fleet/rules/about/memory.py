"""Rules about the capacity of an instance: shared memory, GPU memory, disk."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.front_end import Weights, weights_of_instances
from triton_fleet.catalog.instances import Instance, Processor
from triton_fleet.catalog.variables import variables
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.models import ModelsContext, instances_on_gpu, resident_models, weights_on_gpu
from triton_fleet.context.variables import PREFIX
from triton_fleet.rules.rule import CONTAINER, MODELS_ON_INSTANCE, Problem
from triton_fleet.spec.lock import InstanceGroup, LockedModel

SHM = f"{PREFIX}SHM_DEFAULT_BYTE_SIZE"
MIB, GIB, GB = 1 << 20, 1 << 30, 10**9
DIGITS = 19
"""The digits of the largest number of bytes that tritonserver reads."""


@MODELS_ON_INSTANCE.rule("FL250", source="https://docs.aws.amazon.com/sagemaker/latest/dg/triton.html")
def shared_memory_shortage(context: ModelsContext) -> Iterator[Problem]:
    """The model instances of Python models fit into the machine's shared memory.

    Each reserves a region of /dev/shm when it starts, 16 MiB by default. SageMaker gives the container half
    of the machine's memory as /dev/shm.
    """
    machine = context.container.machine
    if machine is None:
        return
    each_takes = context.container.settings.get(SHM) or variables()[SHM].default or ""
    if not each_takes.isdecimal() or len(each_takes) > DIGITS:
        return
    for together in resident_models(context):
        models = [model for model in together if model.facts.backend == "python"]
        count = sum(_instances(model.facts, machine) for model in models)
        needed, half = count * int(each_takes), machine.memory_gib * GIB / 2
        if needed > half:
            names = ", ".join(model.name for model in models)
            message = (
                f"{count} instances of Python models ({names}) take {needed / GIB:.1f} GiB of shared memory;"
                f" {machine.type} gives its container {half / GIB:g} GiB"
            )
            hint = f"lower `container.shm_default_byte_size` ({each_takes}), or the count in instance_group"
            yield Problem(models[0].path, message, hint)


@MODELS_ON_INSTANCE.rule(
    "FL251",
    source="https://github.com/triton-inference-server/server/blob/main/docs/user_guide/model_configuration.md",
)
def gpu_memory_shortage(context: ModelsContext) -> Iterator[Problem]:
    """The weights of all models that are loaded together fit into one GPU's memory.

    Each model instance of an ONNX model has its own copy of the weights. Memory for activations comes on top,
    and is not counted here.
    """
    machine = context.container.machine
    if machine is None or machine.kind is not Processor.GPU:
        return
    memory = machine.gpu_memory_mib * MIB
    for together in resident_models(context) if memory else ():
        on_gpu = [each for each in together if each.facts.backend in weights_of_instances()]
        for number in range(machine.gpus):
            sure = sum(
                weights_on_gpu(each.facts, number, {Weights.OWN}) for each in on_gpu if _is_plain(each.facts)
            )
            at_most = sum(
                weights_on_gpu(each.facts, number, {Weights.OWN, Weights.UNKNOWN}) for each in on_gpu
            )
            if at_most > memory:
                here = [each for each in on_gpu if instances_on_gpu(each.facts, number)]
                message = (
                    f"the weights of {', '.join(each.name for each in here)} with all instances take"
                    f" {(sure if sure > memory else at_most) / GIB:.1f} GiB;"
                    f" GPU {number} of {machine.type} ({machine.gpu}) has {memory / GIB:.1f} GiB"
                )
                hint = "lower the count in instance_group, or use a larger GPU or a lower precision"
                yield Problem(here[0].path, message, hint, certain=sure > memory)
                break


@CONTAINER.rule(
    "FL262",
    source="https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-store-volumes.html",
)
def disk_space_shortage(endpoint: EndpointContext) -> Iterator[Problem]:
    """An unpacked archive fits onto the instance's local storage.

    Instances with NVMe storage keep their models there, and accept no other volume.
    """
    machine = endpoint.machine
    if machine is None or not machine.nvme_gb:
        return
    for each in endpoint.spec.packed:
        archive = endpoint.locked.get(each.name)
        if archive is not None and archive.size > machine.nvme_gb * GB:
            message = (
                f"archive {each.name!r} is {archive.size / GB:.0f} GB unpacked;"
                f" {machine.type} has {machine.nvme_gb} GB of local storage"
            )
            yield Problem(("models", each.index), message, "use a larger instance")


def _instances(facts: LockedModel, machine: Instance) -> int:
    """Instances of a model on one machine; without a group of its own Triton makes one for each GPU."""
    groups = facts.instances or (InstanceGroup(),)
    return sum(group.count * _places(group, machine) for group in groups)


def _places(group: InstanceGroup, machine: Instance) -> int:
    if group.kind in ("KIND_CPU", "KIND_MODEL"):
        return 1
    return len(group.gpus) or max(machine.gpus, 1)


def _is_plain(facts: LockedModel) -> bool:
    """Whether all of the model's files are weights of each GPU that it is on."""
    return not facts.by_compute_capability and all(group.kind != "KIND_MODEL" for group in facts.instances)
