"""Rules about how TensorRT engines are built, and what from."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.builds.engines.artifacts import locked_engines, packed_name
from triton_fleet.builds.engines.endpoint_engines import planned_engines, spec_engines
from triton_fleet.builds.engines.runner import NoRunner, runner_for
from triton_fleet.catalog.engines import engine_option
from triton_fleet.catalog.images import release, releases
from triton_fleet.catalog.instances import Processor
from triton_fleet.catalog.releases import numbers
from triton_fleet.context.context import EndpointContext
from triton_fleet.findings import Severity
from triton_fleet.rules.rule import CONTAINER, Problem, rule
from triton_fleet.spec.endpoint import in_s3, onnx_in_s3
from triton_fleet.spec.engine import Compatibility, Precision
from triton_fleet.spec.values import BYTES

PRICES_PAGE = "https://aws.amazon.com/sagemaker/pricing/"
HEADER = "https://github.com/NVIDIA/TensorRT/blob/main/include/NvInfer.h"
ENGINES = "docs/engines.md"
MIN_PYTHON = "3.10"
"""Version of Python that engine_build/__main__.py needs; the boto3 that it installs needs no less."""


@rule("FL295", source=PRICES_PAGE)
def gpu_without_engine_builder(endpoint: EndpointContext) -> Iterator[Problem]:
    """A SageMaker job can build engines on the endpoint's GPU in the region.

    Engines are built by a Processing or Training job on the instance type that serves them.
    """
    machine = endpoint.machine
    if machine is None or machine.kind is not Processor.GPU:
        return
    runner = runner_for(machine, endpoint.region)
    if isinstance(runner, NoRunner):
        for path, _, _ in spec_engines(endpoint.spec):
            yield Problem(path, runner.message, runner.hint)


@CONTAINER.rule("FL390", Severity.WARNING, source=HEADER)
def oversized_workspace(endpoint: EndpointContext) -> Iterator[Problem]:
    """An engine's workspace is less than the GPU's memory.

    Above the GPU's memory, the workspace limits nothing; and weights and tensors need memory as well.
    """
    machine = endpoint.machine
    if machine is None or machine.kind is not Processor.GPU:
        return
    for path, _, engine in spec_engines(endpoint.spec):
        size = engine.workspace
        if size is not None and 0 < machine.gpu_memory_mib <= size // BYTES["MiB"]:
            message = (
                f"`workspace` is {size // BYTES['MiB']} MiB; the {machine.gpu} of {machine.type} has"
                f" {machine.gpu_memory_mib} MiB in all"
            )
            yield Problem(
                (*path, "workspace"), message, "leave it out: TensorRT may then use all free memory"
            )


@rule("FL391", source=ENGINES, is_needed=True, at_deploy=True)
def engine_lock_mismatch(endpoint: EndpointContext) -> Iterator[Problem]:
    """The lock's engines are those that the spec requires in this environment.

    An engine's key is computed from the ONNX model, trtexec's arguments, the GPU and the image. An engine
    with another key is not the one that was reviewed, or does not load.
    """
    lock = endpoint.lock
    if lock is None or not lock.is_measured:
        return
    hint = f"run {endpoint.environment.lock_command(endpoint.spec.endpoint)}"
    if lock.promoted_from is not None:
        hint += f", or give the endpoint the instance and the release that it has in {lock.promoted_from}"
    for plan in planned_engines(endpoint):
        for archive, locked_engine in locked_engines(
            endpoint.spec, endpoint.archives, plan.index, plan.model
        ):
            if locked_engine is None:
                message = f"the lock has no engine of model {plan.model!r} in {archive!r}"
                yield Problem(plan.path, message, hint)
            elif locked_engine.key != plan.build(locked_engine.onnx).key:
                whose = f"the lock, promoted from {lock.promoted_from}," if lock.promoted_from else "the lock"
                message = (
                    f"{whose} has another engine of model {plan.model!r} than the spec needs on"
                    f" {plan.gpu} with {plan.image}"
                )
                yield Problem(plan.path, message, hint)
    for index, entry in enumerate(endpoint.spec.models):
        for packed_archive in entry.packed_archives(index):
            names = {packed_name(engine.model, packed_archive.copy) for engine in entry.engines}
            engines = (
                endpoint.archives[packed_archive.name].engines
                if packed_archive.name in endpoint.archives
                else {}
            )
            for model in sorted(engines.keys() - names):
                engine = f"an engine of model {model!r} in {packed_archive.name!r}"
                message = f"the lock has {engine}, and the spec has none"
                yield Problem(("models", index), message, hint)


@rule("FL393", source=ENGINES, is_needed=True)
def engine_in_s3_repository(endpoint: EndpointContext) -> Iterator[Problem]:
    """Engines are built only for repositories in folders.

    A repository in S3 is used as it is, by its digest: no plan can be added to it.
    """
    for path, index, _ in spec_engines(endpoint.spec):
        archive = endpoint.spec.models[index]
        if in_s3(archive):
            message = f"{archive.archive!r} is at {archive.repository}: no engine can be added to it"
            yield Problem(path, message, "download the repository, and name its folder")


@rule("FL394", Severity.WARNING, source=HEADER)
def hardware_compatible_engine(endpoint: EndpointContext) -> Iterator[Problem]:
    """An engine is compatible with other GPUs only on purpose: compatibility makes it slower.

    Each environment builds its engines on the GPU that serves them, so none has to run on another GPU.
    """
    for path, _, engine in spec_engines(endpoint.spec):
        if engine.compatibility is not Compatibility.NONE:
            price = engine_option("compatibility", engine.compatibility).price
            message = f"`compatibility: {engine.compatibility}` has a price: {price}"
            hint = "leave it out: the engine is built on the GPU that serves it, in each environment"
            yield Problem((*path, "compatibility"), message, hint)


@rule(
    "FL396",
    Severity.WARNING,
    source="https://github.com/NVIDIA/TensorRT/blob/main/samples/common/sampleEngines.cpp",
)
def int8_without_scales(endpoint: EndpointContext) -> Iterator[Problem]:
    """The ONNX model of an INT8 engine contains its quantisation scales.

    Without QuantizeLinear and DequantizeLinear nodes, trtexec calibrates with random numbers: the engine is
    fast, and its answers are wrong.
    """
    for path, _, engine in spec_engines(endpoint.spec):
        if engine.precision is Precision.INT8:
            message = "trtexec calibrates INT8 with random numbers unless the ONNX model contains its scales"
            hint = (
                "quantise the model first (QuantizeLinear, DequantizeLinear), then write"
                ' `allow: {int8-without-scales: "…"}`'
            )
            yield Problem((*path, "precision"), message, hint)


@rule("FL397", source=ENGINES, is_needed=True)
def onnx_without_digest(endpoint: EndpointContext) -> Iterator[Problem]:
    """An ONNX model in S3 has a `digest` of its content, a file has none.

    Content in S3 can change without a review.
    """
    name, environment = endpoint.spec.endpoint, endpoint.environment.environment
    for path, _, engine in spec_engines(endpoint.spec):
        if onnx_in_s3(engine) and engine.digest is None:
            message = f"the content of {engine.onnx} can change, and the spec has no digest of it"
            hint = f"write `digest:`; `fleet lock --env {environment} {name}` computes and prints it"
            yield Problem((*path, "onnx"), message, hint)
        if not onnx_in_s3(engine) and engine.digest is not None:
            message, hint = (
                "a file needs no digest: its lock has it",
                "leave it out; only an ONNX model in S3 has one",
            )
            yield Problem((*path, "digest"), message, hint)


@rule("FL399", source=ENGINES)
def python_too_old_for_engine(endpoint: EndpointContext) -> Iterator[Problem]:
    """Engines are built in an image with Python 3.10 or newer, which the build script needs.

    In an older image, the script would fail only after a machine with a GPU was started and billed.
    """
    image = endpoint.engine_image
    if image is None or _builds(image.details.python):
        return
    first = next(name for name in releases() if _builds(release(name).python))
    for path, _, _ in spec_engines(endpoint.spec):
        message = (
            f"the image of Triton {image.release} has Python {image.details.python};"
            f" the script that builds engines needs {MIN_PYTHON}"
        )
        hint = (
            f'write `triton: "{first}"` or newer; or leave the engine out, run the command that'
            " `fleet engines plan` shows in that image, and put the plan into the repository"
        )
        yield Problem(path, message, hint, certain="python" not in image.details.uncertain)


@rule("FL810", source=ENGINES, is_needed=True)
def engine_in_own_image(endpoint: EndpointContext) -> Iterator[Problem]:
    """An image of the endpoint's own has the TensorRT that builds its engines: the release's.

    Engines are built in the release's image. An image of the spec's own builds them only where the
    environment allows it (`engine_builds.own_images`): neither a Dockerfile nor a lock decides what builds.
    """
    image, release = endpoint.image, endpoint.release_image
    if image is None or release is None or not endpoint.has_own_tensorrt:
        return
    if endpoint.environment.engine_builds.own_images:
        return
    for path, _, _ in spec_engines(endpoint.spec):
        message = (
            f"the endpoint's image has TensorRT {image.details.tensorrt or 'of an unknown version'}, and"
            f" engines are built in the release's, with TensorRT {release.details.tensorrt or 'unknown'}"
        )
        hint = (
            "build the image on the release's TensorRT; or have the platform team write `engine_builds:"
            f" {{own_images: true}}` into environments/{endpoint.environment.environment}.yaml"
        )
        yield Problem(path, message, hint)


@rule("FL981", source="docs/images.md")
def engine_in_foreign_image(endpoint: EndpointContext) -> Iterator[Problem]:
    """Engines are built in the release's image, or in an image from the environment's own repository.

    The role of jobs may pull no other image: an engine for another TensorRT needs an image with `build`.
    """
    image, own = endpoint.engine_image, endpoint.spec.own_image
    if image is None or not image.is_own or own is None or own.uri is None:
        return
    for path, _, _ in spec_engines(endpoint.spec):
        message = (
            f"the engine needs TensorRT {image.details.tensorrt or 'of an unknown version'} from {own.uri},"
            " an image that engine builds may not pull"
        )
        hint = (
            "leave the engine out, run the command that `fleet engines plan` shows in that image, and put the"
            " plan into the repository"
        )
        yield Problem(path, message, hint)


def _builds(python: str) -> bool:
    return numbers(python) >= numbers(MIN_PYTHON)
