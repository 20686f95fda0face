"""Rules about TensorRT: plans that lie in a repository, and engines that are to be built."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from fleet.catalog.builds import build_support
from fleet.catalog.images import Release
from fleet.catalog.instances import Kind, instance, instance_types
from fleet.catalog.tensorrt import Option, engine_option
from fleet.decide.decided import Decided
from fleet.decide.variables import ADDITIONAL_ARGS
from fleet.repository.copies import copied_name
from fleet.rules.rule import Problem, rule
from fleet.spec.engine import Engine
from fleet.spec.lock import LockedModel
from fleet.spec.problems import did_you_mean
from fleet.spec.source import KeyPath

TRT = "https://docs.nvidia.com/deeplearning/tensorrt/latest/inference-library/engine-compatibility.html"
SUPPORT = "https://docs.nvidia.com/deeplearning/tensorrt/latest/getting-started/support-matrix.html"
TRTEXEC = "https://github.com/NVIDIA/TensorRT/blob/main/samples/common/sampleOptions.cpp"
DIGITS = 9
"""No part of a version has more; what has comes from a lock that was not written by us."""
PLAN = ".plan"
VERSION_COMPATIBLE = "version-compatible=true"


@rule("FL256", source=TRT)
def plan_of_the_images_tensorrt(endpoint: Decided) -> Iterator[Problem]:
    """A plan in the repository was built with the very TensorRT of the image.

    A plan loads in the version that built it and in no other, down to the build number, unless both were told
    to be version compatible.
    """
    image = endpoint.image
    if image is None or VERSION_COMPATIBLE in endpoint.variables.get(ADDITIONAL_ARGS, ""):
        return
    for each in endpoint.loaded_models():
        for path, built in each.facts.plans.items():
            place, plan = ("models", each.index), f"{each.name}/{path}"
            if not built:
                message = f"{plan} has no header that is known: nothing tells which TensorRT built it"
                yield Problem(place, message, f"build it inside the image of {image.release}", certain=False)
            elif not _may_be(built, image.details):
                has = image.details.tensorrt or f"at least {image.details.tensorrt_least}"
                message = (
                    f"{plan} was built with TensorRT {built}; the image of Triton {image.release} has {has}"
                )
                hint = (
                    f"build it inside the image of {image.release}, or take the release that it was built in"
                )
                yield Problem(place, message, hint, certain=not _might_be(built, image.details))


@rule(
    "FL257",
    source="https://github.com/triton-inference-server/server/blob/main/docs/user_guide/model_configuration.md",
)
def plan_for_the_instances_gpu(endpoint: Decided) -> Iterator[Problem]:
    """Of plans for several GPUs one is for the instance's.

    `cc_model_filenames` names them by compute capability; without a match Triton takes the default file,
    which is then not there.
    """
    machine = endpoint.machine
    if machine is None or machine.kind is not Kind.GPU:
        return
    for each in endpoint.loaded_models():
        named = each.facts.by_compute_capability
        own = named.get(machine.compute_capability, "")
        if (
            own.endswith(PLAN)
            and each.facts.plans
            and not any(p.endswith(f"/{own}") for p in each.facts.plans)
        ):
            message = f"model {each.name!r} names {own} for {machine.compute_capability}, which is not there"
            yield Problem(("models", each.index), message, "put it into the version directory")
        default = any(path.endswith("/model.plan") for path in each.facts.plans)
        if named and machine.compute_capability not in named and not default:
            message = (
                f"model {each.name!r} has plans for compute capability {', '.join(sorted(named))};"
                f" {machine.type} ({machine.gpu}) is {machine.compute_capability}"
            )
            hint = f"add a plan that was built on a {machine.gpu}, or take an instance with one of those GPUs"
            yield Problem(("models", each.index), message, hint)


@rule("FL297", source=TRT)
def plan_built_on_the_instances_gpu(endpoint: Decided) -> Iterator[Problem]:
    """Plans in a repository were built on the GPU that serves them, and the spec says on which.

    A plan does not say it itself. It loads on that GPU model and no other, whatever the compute capability,
    unless it was built to be hardware compatible.
    """
    machine = endpoint.machine
    if machine is None or machine.kind is not Kind.GPU:
        return
    with_plans = {each.index for each in endpoint.models if each.facts.plans}
    for index, archive in enumerate(endpoint.spec.models):
        path: KeyPath = ("models", index, "built_on")
        if archive.built_on is not None and archive.built_on not in instance_types():
            message = f"{archive.built_on} is no instance that the catalog knows"
            yield Problem(path, message, did_you_mean(archive.built_on, instance_types()))
        elif archive.built_on is None and index not in with_plans:
            continue
        elif archive.built_on is not None and not with_plans and endpoint.models:
            message = f"{archive.archive!r} holds no TensorRT plan: `built_on` means nothing"
            yield Problem(path, message, "leave it out", certain=False)
        elif archive.built_on is not None and instance(archive.built_on).gpu != machine.gpu:
            built = instance(archive.built_on).gpu or "no GPU"
            message = (
                f"the plans of {archive.archive!r} were built on {archive.built_on} ({built});"
                f" {machine.type} has a {machine.gpu}"
            )
            yield Problem(path, message, f"build them on a {machine.gpu}, or take an instance with a {built}")
        elif archive.built_on is None and index in with_plans:
            message = f"nothing says on which GPU the plans of {archive.archive!r} were built"
            hint = f"write `built_on: {machine.type}`, if it was a {machine.gpu}"
            yield Problem(("models", index), message, hint, certain=False)


@rule("FL290", source=SUPPORT)
def engine_that_the_gpu_runs(endpoint: Decided) -> Iterator[Problem]:
    """The GPU can do what the engine asks for.

    BF16 needs Ampere (compute capability 8.0), FP8 needs Ada (8.9); a T4 has neither.
    """
    machine = endpoint.machine
    if machine is None:
        return
    for path, engine in _engines(endpoint):
        if machine.kind is not Kind.GPU:
            yield Problem(path, f"{machine.type} has no GPU to run an engine on", "take a GPU instance")
            continue
        for key, value, about in _options(engine):
            least = about.least_capability
            if least is not None and _number(machine.compute_capability) < _number(least):
                message = (
                    f"`{key}` {value} needs compute capability {least};"
                    f" {machine.type} ({machine.gpu}) has {machine.compute_capability}"
                )
                hint = "write `precision: fp16`" if key == "precision" else "leave it out"
                yield Problem((*path, key), message, f"{hint}, or take a newer GPU")


@rule("FL291", source=TRTEXEC)
def options_that_the_tensorrt_has(endpoint: Decided) -> Iterator[Problem]:
    """The image's TensorRT knows the engine's options.

    trtexec got BF16 with 10.0, INT4 and same-compute-capability with 10.9, and lost all precisions with 11.
    """
    image = endpoint.image
    if image is None or not image.details.tensorrt:
        return
    there, sure = image.details.tensorrt, image.details.tensorrt_certain
    for path, engine in _engines(endpoint):
        for key, value, about in _options(engine):
            if about.since is not None and _number(there) < _number(about.since):
                message = (
                    f"`{key}` {value} needs TensorRT {about.since};"
                    f" the image of Triton {image.release} has {there}"
                )
                yield Problem((*path, key), message, "leave it out, or take a newer release", certain=sure)
            if about.until is not None and _number(there) >= _number(about.until):
                message = f"TensorRT {there} takes no `{key}`: a layer has the types of the ONNX model"
                yield Problem((*path, key), message, "leave it out, and cast the model before", certain=sure)


@rule("FL292", source=TRTEXEC)
def shapes_that_grow(endpoint: Decided) -> Iterator[Problem]:
    """An input's smallest, usual and largest shape have one rank, and none exceeds the next.

    They are one optimisation profile; all inputs share the batch sizes of it.
    """
    for path, engine in _engines(endpoint):
        for name, shapes in engine.shapes.items():
            smallest, usual, largest = (tuple(map(int, shape.split("x"))) for shape in shapes)
            place = (*path, "shapes", name)
            if not len(smallest) == len(usual) == len(largest):
                yield Problem(
                    place,
                    f"the shapes of {name!r} have different ranks: {', '.join(shapes)}",
                    "write three alike",
                )
            elif not all(a <= b <= c for a, b, c in zip(smallest, usual, largest, strict=True)):
                message = f"the shapes of {name!r} do not grow: {', '.join(shapes)}"
                yield Problem(place, message, "write the smallest, the usual and the largest, in this order")


@rule("FL293", source="docs/decisions/0011-what-a-rule-knows.md")
def engine_of_a_model_that_is_there(endpoint: Decided) -> Iterator[Problem]:
    """An engine belongs to a TensorRT model of its repository, once.

    Its largest batch is at least the model's max_batch_size.
    """
    seen, models = set[tuple[int, str]](), defaultdict[int, dict[str, LockedModel]](dict)
    for each in endpoint.models:
        models[each.index][each.name] = each.facts
    for path, engine in _engines(endpoint):
        index = path[1]
        assert isinstance(index, int)  # noqa: S101 - as _engines makes it
        if (index, engine.model) in seen:
            yield Problem(
                (*path, "model"), f"model {engine.model!r} is to get two engines", "keep one of the two"
            )
        seen.add((index, engine.model))
        there = models[index]
        copies = endpoint.spec.models[index].copies
        locked_as = engine.model if copies is None else copied_name(engine.model, 0)
        if not there:
            continue
        if locked_as not in there:
            message = f"the repository holds no model {engine.model!r} for this engine"
            yield Problem((*path, "model"), message, did_you_mean(engine.model, list(there)))
            continue
        facts = there[locked_as]
        if facts.backend not in ("", "tensorrt"):
            message = (
                f"model {engine.model!r} is of the {facts.backend} backend, which takes no TensorRT plan"
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


@rule(
    "FL295", source="https://docs.aws.amazon.com/codebuild/latest/userguide/build-env-ref-compute-types.html"
)
def family_that_engines_can_be_built_on(endpoint: Decided) -> Iterator[Problem]:
    """Engines can be built on the endpoint's GPU family.

    CodeBuild has A10G GPUs on demand (g5); the others are built by a SageMaker job on the same instance type.
    """
    machine = endpoint.machine
    if machine is None or machine.kind is not Kind.GPU:
        return
    for path, _ in _engines(endpoint):
        if not build_support(machine.family):
            yield Problem(
                path, f"no AWS service builds engines on {machine.family} instances", "take another family"
            )


def _engines(endpoint: Decided) -> Iterator[tuple[KeyPath, Engine]]:
    for index, archive in enumerate(endpoint.spec.models):
        for number, engine in enumerate(archive.engines):
            yield ("models", index, "engines", number), engine


def _options(engine: Engine) -> Iterator[tuple[str, str, Option]]:
    """Each option of an engine: its key, its value, and what is known of it."""
    yield "precision", engine.precision.value, engine_option("precision", engine.precision.value)
    value = engine.compatibility.value
    yield "compatibility", value, engine_option("compatibility", value)


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdecimal() and len(part) <= DIGITS)


def _may_be(built: str, release: Release) -> bool:
    """Whether a plan's TensorRT is the release's, as far as both are known."""
    return not _differs(built, release.tensorrt) if release.tensorrt else _might_be(built, release)


def _might_be(built: str, release: Release) -> bool:
    """Whether it is not proved that the release has another."""
    if release.tensorrt and release.tensorrt_certain:
        return not _differs(built, release.tensorrt)
    least, most = _number(release.tensorrt_least or "0"), _number(release.tensorrt_most or "99")
    return least <= _number(built) <= most


def _differs(built: str, there: str) -> bool:
    """Compare as far as both are known."""
    return any(a != b for a, b in zip(_number(built), _number(there), strict=False))
