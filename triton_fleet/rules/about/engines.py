"""Rules about TensorRT engines and plans."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from triton_fleet.builds.engines.endpoint_engines import expected_tensorrt, spec_engines
from triton_fleet.catalog.engines import Option, engine_option
from triton_fleet.catalog.images import Release
from triton_fleet.catalog.instances import Instance, Processor, instance, instance_types
from triton_fleet.catalog.releases import numbers, versions_differ
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.models import ModelContext
from triton_fleet.context.variables import ADDITIONAL_ARGS
from triton_fleet.repository.copies import copied_name
from triton_fleet.rules.rule import CONTAINER, MODEL, MODEL_ON_INSTANCE, Problem, rule
from triton_fleet.spec.engine import Compatibility, Engine
from triton_fleet.spec.lock import LockedModel
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.source import KeyPath

SUPPORT = "https://docs.nvidia.com/deeplearning/tensorrt/latest/getting-started/support-matrix.html"
TRTEXEC = "https://github.com/NVIDIA/TensorRT/blob/main/samples/common/sampleOptions.cpp"
CAST_HINT = "cast it to FP16, or quantise it with NVIDIA's ModelOpt"


@CONTAINER.rule("FL290", source=SUPPORT)
def engine_beyond_gpu(endpoint: EndpointContext) -> Iterator[Problem]:
    """The GPU supports the engine's options.

    BF16 needs Ampere (compute capability 8.0), FP8 needs Ada (8.9); a T4 has neither. An engine is built on
    the GPU of `instance.type`; a raw instance pool or variant loads it if its GPU is the same, or if
    `compatibility` includes its GPU.
    """
    machine, builder = endpoint.machine, endpoint.own_machine
    if machine is None:
        return
    for path, _, engine in spec_engines(endpoint.spec):
        if machine.kind is not Processor.GPU:
            yield Problem(path, f"{machine.type} has no GPU to run an engine on", "use a GPU instance")
            continue
        if builder is not None and builder.gpu and not _loads(machine, builder, engine.compatibility):
            message = (
                f"the engine of model {engine.model!r} is built on {builder.type} ({builder.gpu}), and"
                f" {machine.type} ({machine.gpu}) has to load it"
            )
            yield Problem(path, message, f"use an instance with the GPU {builder.gpu}")
        for key, value, about in _options(engine):
            min_capability = about.least_capability
            if min_capability is not None and numbers(machine.compute_capability) < numbers(min_capability):
                message = (
                    f"`{key}` {value} needs compute capability {min_capability};"
                    f" {machine.type} ({machine.gpu}) has {machine.compute_capability}"
                )
                hint = "write `precision: fp16`" if key == "precision" else "leave it out"
                yield Problem((*path, key), message, f"{hint}, or use a newer GPU")


@rule("FL291", source=TRTEXEC)
def unsupported_engine_option(endpoint: EndpointContext) -> Iterator[Problem]:
    """The image's TensorRT supports the engine's options.

    trtexec added BF16 in 10.0, INT4 in 10.1 and same-compute-capability in 10.9. Version 11 dropped all
    precisions: since then, layers have the types of the ONNX model.
    """
    image = endpoint.image
    version = None if image is None else expected_tensorrt(image.details)
    if image is None or version is None:
        return
    sure, newest = image.details.tensorrt_certain, image.details.max_tensorrt or version
    for path, _, engine in spec_engines(endpoint.spec):
        for key, value, about in _options(engine):
            if about.since is not None and numbers(version) < numbers(about.since):
                message = (
                    f"`{key}` {value} needs TensorRT {about.since};"
                    f" the image of Triton {image.release} has {version}"
                )
                yield Problem((*path, key), message, "leave it out, or use a newer release", certain=sure)
            elif about.until is not None and numbers(newest) >= numbers(about.until):
                has = (
                    f"TensorRT {version}"
                    if numbers(version) >= numbers(about.until)
                    else (f"the image of Triton {image.release} may have TensorRT {newest}, which")
                )
                message = f"{has} does not accept `{key}`: layers have the types of the ONNX model"
                hint = f"leave it out, and set the types in the ONNX model: {CAST_HINT}"
                yield Problem((*path, key), message, hint, certain=sure)


@rule("FL292", source=TRTEXEC)
def inconsistent_engine_shapes(endpoint: EndpointContext) -> Iterator[Problem]:
    """An input's smallest, usual and largest shapes have the same rank and grow in this order.

    Together they are one optimisation profile, whose batch sizes all inputs share.
    """
    for path, _, engine in spec_engines(endpoint.spec):
        for name, shapes in engine.shapes.items():
            smallest, usual, largest = (tuple(map(int, shape.split("x"))) for shape in shapes)
            shape_path = (*path, "shapes", name)
            if not len(smallest) == len(usual) == len(largest):
                yield Problem(
                    shape_path,
                    f"the shapes of {name!r} have different ranks: {', '.join(shapes)}",
                    "write three shapes of one rank",
                )
            elif not all(a <= b <= c for a, b, c in zip(smallest, usual, largest, strict=True)):
                message = f"the shapes of {name!r} are not in ascending order: {', '.join(shapes)}"
                hint = "write the smallest, the usual and the largest, in this order"
                yield Problem(shape_path, message, hint)


@rule("FL293", source="docs/decisions/0011-what-a-rule-knows.md")
def engine_without_model(endpoint: EndpointContext) -> Iterator[Problem]:
    """An engine is for a TensorRT model of its repository, at most one for each model.

    Its largest batch is at least the model's max_batch_size.
    """
    pairs, models = set[tuple[int, str]](), defaultdict[int, dict[str, LockedModel]](dict)
    for model in endpoint.models:
        models[model.index][model.name] = model.facts
    for path, index, engine in spec_engines(endpoint.spec):
        if (index, engine.model) in pairs:
            yield Problem((*path, "model"), f"model {engine.model!r} has two engines", "keep one of the two")
        pairs.add((index, engine.model))
        locked_models = models[index]
        copies = endpoint.spec.models[index].copies
        locked_as = engine.model if copies is None else copied_name(engine.model, 0)
        if not locked_models:
            continue
        if locked_as not in locked_models:
            message = f"the repository has no model {engine.model!r} for this engine"
            names = (
                locked_models
                if copies is None
                else [model_name.removesuffix(copied_name("", 0)) for model_name in locked_models]
            )
            yield Problem((*path, "model"), message, did_you_mean(engine.model, names))
            continue
        facts = locked_models[locked_as]
        if facts.backend not in ("", "tensorrt"):
            message = (
                f"model {engine.model!r} has the {facts.backend} backend, which does not load a TensorRT plan"
            )
            yield Problem((*path, "model"), message, 'write `platform: "tensorrt_plan"` in its config.pbtxt')
        for name, shapes in engine.shapes.items():
            largest = int(shapes[2].split("x")[0])
            if facts.max_batch_size > largest:
                message = (
                    f"the largest batch of {name!r} is {largest}; model {engine.model!r} has max_batch_size"
                    f" {facts.max_batch_size}"
                )
                yield Problem(
                    (*path, "shapes", name),
                    message,
                    f"write a largest shape of {facts.max_batch_size} or more",
                )


def _loads(machine: Instance, builder: Instance, compatibility: Compatibility) -> bool:
    """Whether a GPU loads an engine of another's; the least capability that an option needs is its own."""
    if compatibility is Compatibility.SAME_COMPUTE_CAPABILITY:
        return machine.compute_capability == builder.compute_capability
    return compatibility is Compatibility.AMPERE_PLUS or machine.gpu == builder.gpu


def _options(engine: Engine) -> Iterator[tuple[str, str, Option]]:
    """Each option of an engine: its key, its value, and what is known of it."""
    yield "precision", engine.precision.value, engine_option("precision", engine.precision.value)
    value = engine.compatibility.value
    yield "compatibility", value, engine_option("compatibility", value)


TRT = "https://docs.nvidia.com/deeplearning/tensorrt/latest/inference-library/engine-compatibility.html"
PLAN = ".plan"
VERSION_COMPATIBLE = "version-compatible=true"


@MODEL.rule("FL256", source=TRT)
def plan_of_other_tensorrt(context: ModelContext) -> Iterator[Problem]:
    """A plan in the repository was built with exactly the image's version of TensorRT.

    A plan loads only in the version that built it, down to the build number, unless both plan and server are
    set to be version compatible.
    """
    model, contents = context.model, context.container.contents
    if contents is None or VERSION_COMPATIBLE in context.container.settings.get(ADDITIONAL_ARGS, ""):
        return
    for path, version in model.facts.plans.items():
        plan, remedy = f"{model.name}/{path}", f"build it inside the image of {contents.name}"
        if not version:
            message = f"{plan} has an unknown header: the TensorRT that built it is unknown"
            yield Problem(model.path, message, remedy, certain=False)
        elif not _may_be(version, contents):
            has = contents.tensorrt or f"at least {contents.min_tensorrt}"
            message = (
                f"{plan} was built with TensorRT {version}; the image of Triton {contents.name} has {has}"
            )
            hint = f"{remedy}, or use the release that it was built in"
            yield Problem(model.path, message, hint, certain=not _might_be(version, contents))


@MODEL_ON_INSTANCE.rule(
    "FL257",
    source="https://github.com/triton-inference-server/server/blob/main/docs/user_guide/model_configuration.md",
    fields=("cc_model_filenames",),
)
def missing_plan_for_gpu(context: ModelContext) -> Iterator[Problem]:
    """A model with plans for several GPUs has one for the instance's GPU.

    `cc_model_filenames` lists them by compute capability. Without a match, Triton loads the default file,
    which such a model does not have.
    """
    model, machine = context.model, context.container.machine
    if machine is None or machine.kind is not Processor.GPU:
        return
    by_capability, plans = model.facts.by_compute_capability, model.facts.plans
    own = by_capability.get(machine.compute_capability, "")
    if own.endswith(PLAN) and plans and not any(path.endswith(f"/{own}") for path in plans):
        message = (
            f"model {model.name!r} names the plan {own} for compute capability"
            f" {machine.compute_capability}, but that file does not exist"
        )
        yield Problem(model.path, message, "put it into the version directory")
    default = any(path.endswith("/model.plan") for path in plans)
    if by_capability and machine.compute_capability not in by_capability and not default:
        message = (
            f"model {model.name!r} has plans for compute capability {', '.join(sorted(by_capability))};"
            f" {machine.type} ({machine.gpu}) has {machine.compute_capability}"
        )
        hint = f"add a plan that was built on {machine.type}, or use an instance with one of those GPUs"
        yield Problem(model.path, message, hint)


@CONTAINER.rule("FL297", source=TRT)
def plan_of_other_gpu(endpoint: EndpointContext) -> Iterator[Problem]:
    """Plans in a repository were built on the GPU that serves them, and the spec names that GPU.

    A plan does not record its GPU. It loads only on that GPU model, whatever the compute capability, unless
    it was built to be hardware compatible.
    """
    machine = endpoint.machine
    if machine is None or machine.kind is not Processor.GPU:
        return
    indexes = {model.index for model in endpoint.models}
    with_plans = {model.index for model in endpoint.models if model.facts.plans}
    for index, archive in enumerate(endpoint.spec.models):
        path: KeyPath = ("models", index, "built_on")
        if archive.built_on is None:
            if index in with_plans:
                message = f"the GPU that built the plans of {archive.archive!r} is unknown"
                hint = f"write `built_on: {machine.type}`, if its GPU ({machine.gpu}) built them"
                yield Problem(("models", index), message, hint, certain=False)
        elif archive.built_on not in instance_types():
            message = f"the catalog has no instance type {archive.built_on}"
            yield Problem(path, message, did_you_mean(archive.built_on, instance_types()))
        elif index in indexes - with_plans:
            message = f"{archive.archive!r} contains no TensorRT plan, so `built_on` has no effect"
            yield Problem(path, message, "leave it out", certain=False)
        elif (builder := instance(archive.built_on)).gpu != machine.gpu:
            message = (
                f"the plans of {archive.archive!r} were built on {_machine_text(builder)}, and"
                f" {_machine_text(machine)} has to load them"
            )
            advice = f", or use an instance with the GPU {builder.gpu}" if builder.gpu else ""
            yield Problem(path, message, f"build them on {machine.type}{advice}")


def _machine_text(machine: Instance) -> str:
    return f"{machine.type} ({machine.gpu or 'no GPU'})"


def _may_be(version: str, release: Release) -> bool:
    """Whether a plan's TensorRT is the release's, in the parts that are known of both."""
    return not versions_differ(version, release.tensorrt) if release.tensorrt else _might_be(version, release)


def _might_be(version: str, release: Release) -> bool:
    """Whether the release may have it: no source names another."""
    if release.tensorrt and release.tensorrt_certain:
        return not versions_differ(version, release.tensorrt)
    oldest, newest = numbers(release.min_tensorrt or "0"), numbers(release.max_tensorrt or "99")
    return oldest <= numbers(version) <= newest
