"""Rules about instance types and their memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from triton_fleet.catalog.instances import (
    Instance,
    Processor,
    Support,
    hosted_in,
    hosting_regions,
    instance,
    instance_types,
    multi_model_support,
)
from triton_fleet.catalog.variables import Weights, variables, weights_of_instances
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.models import ModelsContext, instances_on_gpu, resident_models, weights_on_gpu
from triton_fleet.context.variables import PREFIX
from triton_fleet.findings import Severity
from triton_fleet.rules.rule import CONTAINER, INSTANCE_TYPE, MODELS_ON_INSTANCE, Problem
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.lock import InstanceGroup, LockedModel
from triton_fleet.spec.problems import did_you_mean

PRICES_PAGE = "https://aws.amazon.com/sagemaker/pricing/"
MULTI_MODEL = "https://docs.aws.amazon.com/sagemaker/latest/dg/multi-model-endpoint-instance.html"
TYPE = ("instance", "type")
FEW = 8
X86 = "x86_64"
NO_TRITON = {
    Processor.NEURON: "it has AWS Neuron chips, for which SageMaker's Triton image has no backend",
    Processor.GAUDI: "it has Gaudi chips, for which SageMaker's Triton image has no backend",
}


@INSTANCE_TYPE.rule("FL203", source=PRICES_PAGE, is_needed=True)
def unknown_instance_type(endpoint: EndpointContext) -> Iterator[Problem]:
    """SageMaker hosts endpoints on the instance type.

    Not every instance type of EC2, training or notebooks can host an endpoint.
    """
    name = endpoint.instance_type
    if name not in instance_types():
        message = f"the catalog has no instance type {name} for hosting"
        yield Problem(TYPE, message, did_you_mean(name, instance_types()))


@CONTAINER.rule(
    "FL226",
    source="https://github.com/triton-inference-server/server/blob/main/docs/introduction/compatibility.md",
)
def incompatible_instance_type(endpoint: EndpointContext) -> Iterator[Problem]:
    """SageMaker's Triton image runs on the instance.

    The image is built for x86-64 processors, with or without NVIDIA GPUs, and not for Graviton, Inferentia,
    Trainium or Gaudi.
    """
    machine = endpoint.machine
    if machine is None:
        return
    if machine.kind in NO_TRITON:
        yield Problem(TYPE, f"Triton cannot run on {machine.type}: {NO_TRITON[machine.kind]}", _gpu_hint())
    elif machine.architecture != X86:
        message = (
            f"{machine.type} has an {machine.architecture} processor: SageMaker's Triton image is for x86-64"
        )
        yield Problem(TYPE, message, _x86_hint(machine, endpoint.region))


@INSTANCE_TYPE.rule("FL227", source=PRICES_PAGE)
def retired_instance_type(endpoint: EndpointContext) -> Iterator[Problem]:
    """SageMaker still offers the instance type.

    The API still lists types that no longer have a price in any region.
    """
    machine = endpoint.machine
    if machine is not None and machine.is_retired:
        message = f"no region offers {machine.type} for hosting any more, although the API still lists it"
        yield Problem(TYPE, message, _gpu_hint())


@INSTANCE_TYPE.rule("FL228", source=PRICES_PAGE)
def instance_type_outside_region(endpoint: EndpointContext) -> Iterator[Problem]:
    """SageMaker offers the instance type in the environment's region.

    This is checked against the price list. An account's quota is separate, and may be 0.
    """
    machine, region = endpoint.machine, endpoint.region
    if machine is None or machine.is_retired or not hosted_in(region) or machine.architecture != X86:
        return
    if region not in hosting_regions(machine.type):
        alternatives = [name for name in hosted_in(region) if _alike(instance(name), machine)]
        regions = sorted(
            hosting_regions(machine.type),
            key=lambda other_region: (other_region[:2] != region[:2], other_region),
        )
        hints = [
            f"types in {region}: {_few(alternatives)}" if alternatives else "",
            f"regions that have it: {_few(regions)}",
        ]
        message = f"SageMaker does not host {machine.type} in {region}"
        yield Problem(TYPE, message, "; ".join(filter(None, hints)), certain=bool(regions))


@CONTAINER.rule("FL216", source=MULTI_MODEL)
def several_gpus_in_multi_model(endpoint: EndpointContext) -> Iterator[Problem]:
    """A multi-model endpoint's instances have one GPU each, or none.

    SageMaker loads and evicts models by the memory of one GPU.
    """
    machine = endpoint.machine
    if machine is None or endpoint.spec.mode is not Mode.MULTI_MODEL or machine.gpus <= 1:
        return
    single = [name for name in instance_types() if _one_gpu(instance(name))]
    names = [name for name in single if instance(name).family == machine.family] or single
    message = f"{machine.type} has {machine.gpus} GPUs: SageMaker hosts multi-model endpoints on one GPU"
    yield Problem(TYPE, message, f"use an instance with one GPU: {', '.join(names)}")


@CONTAINER.rule("FL229", Severity.WARNING, source=MULTI_MODEL)
def unlisted_multi_model_instance(endpoint: EndpointContext) -> Iterator[Problem]:
    """AWS lists the instance type for multi-model endpoints.

    AWS's list of GPU types for multi-model endpoints has nothing newer than g4dn and g5.
    """
    machine = endpoint.machine
    if machine is None or endpoint.spec.mode is not Mode.MULTI_MODEL or machine.gpus > 1:
        return
    support = multi_model_support(machine)
    if support.support is not Support.YES:
        hint = (
            "use a g4dn or g5 with one GPU, or try it once and write"
            ' `allow: {unlisted-multi-model-instance: "tried on …"}`'
        )
        yield Problem(TYPE, f"{machine.type} behind a multi-model endpoint: {support.reason}", hint)


@INSTANCE_TYPE.rule(
    "FL267",
    source="https://docs.aws.amazon.com/sagemaker/latest/APIReference/API_ProductionVariant.html",
)
def instance_type_outside_api(endpoint: EndpointContext) -> Iterator[Problem]:
    """The API accepts the instance type for an endpoint.

    Price lists name a few types that are missing from the API's own list.
    """
    machine = endpoint.machine
    if machine is not None and not machine.in_api:
        message = f"{machine.type} is in price lists, but CreateEndpointConfig does not list it"
        alike = [
            name for name in instance_types() if instance(name).in_api and _alike(instance(name), machine)
        ]
        yield Problem(TYPE, message, did_you_mean(machine.type, alike), certain=False)


def _one_gpu(machine: Instance) -> bool:
    return (
        machine.gpus == 1 and not machine.is_retired and multi_model_support(machine).support is Support.YES
    )


def _alike(machine: Instance, target: Instance) -> bool:
    return machine.kind is target.kind and machine.architecture == target.architecture


def _few(names: Sequence[str]) -> str:
    more = f" and {len(names) - FEW} more" if len(names) > FEW else ""
    return f"{', '.join(names[:FEW])}{more}" if names else "none"


def _x86_hint(machine: Instance, region: str) -> str:
    """The type without a GPU that is nearest to one of another architecture: in the region, of its size."""
    if machine.kind is not Processor.CPU:
        return _gpu_hint()
    names = [name for name in instance_types() if _is_x86_of_family(instance(name), machine.family[0])]
    names = [name for name in names if name in hosted_in(region)] or names
    size = machine.type.rpartition(".")[2]
    names = [name for name in names if name.rpartition(".")[2] == size] or names
    (nearest,) = get_close_matches(machine.type, names, n=1, cutoff=0)
    return f"use a type with an x86-64 processor such as {nearest}"


def _is_x86_of_family(machine: Instance, letter: str) -> bool:
    is_cpu = machine.kind is Processor.CPU and machine.architecture == X86
    return is_cpu and machine.family.startswith(letter) and not machine.is_retired


def _gpu_hint() -> str:
    return "use a GPU instance such as ml.g5.xlarge or ml.g6.xlarge"


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
    for residents in resident_models(context):
        models = [model for model in residents if model.facts.backend == "python"]
        count = sum(_instances(model.facts, machine) for model in models)
        required_bytes, half = count * int(each_takes), machine.memory_gib * GIB / 2
        if required_bytes > half:
            names = ", ".join(model.name for model in models)
            message = (
                f"{count} instances of Python models ({names}) take {required_bytes / GIB:.1f} GiB"
                f" of shared memory; {machine.type} gives its container {half / GIB:g} GiB"
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
    for residents in resident_models(context) if memory else ():
        on_gpu = [model for model in residents if model.facts.backend in weights_of_instances()]
        for number in range(machine.gpus):
            sure = sum(
                weights_on_gpu(model.facts, number, {Weights.OWN})
                for model in on_gpu
                if _is_plain(model.facts)
            )
            upper_bytes = sum(
                weights_on_gpu(model.facts, number, {Weights.OWN, Weights.UNKNOWN}) for model in on_gpu
            )
            if upper_bytes > memory:
                models = [model for model in on_gpu if instances_on_gpu(model.facts, number)]
                names = ", ".join(model.name for model in models)
                message = (
                    f"the weights of {names} with all instances take"
                    f" {(sure if sure > memory else upper_bytes) / GIB:.1f} GiB;"
                    f" GPU {number} of {machine.type} ({machine.gpu}) has {memory / GIB:.1f} GiB"
                )
                hint = "lower the count in instance_group, or use a larger GPU or a lower precision"
                yield Problem(models[0].path, message, hint, certain=sure > memory)
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
    for packed_archive in endpoint.spec.packed_archives:
        archive = endpoint.archives.get(packed_archive.name)
        if archive is not None and archive.size > machine.nvme_gb * GB:
            message = (
                f"archive {packed_archive.name!r} is {archive.size / GB:.0f} GB unpacked;"
                f" {machine.type} has {machine.nvme_gb} GB of local storage"
            )
            yield Problem(("models", packed_archive.index), message, "use a larger instance")


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
