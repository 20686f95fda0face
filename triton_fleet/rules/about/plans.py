"""Rules about TensorRT plans in a repository."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.images import Release
from triton_fleet.catalog.instances import Instance, Processor, instance, instance_types
from triton_fleet.catalog.versions import numbers, versions_differ
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.models import ModelContext
from triton_fleet.context.variables import ADDITIONAL_ARGS
from triton_fleet.rules.rule import CONTAINER, MODEL, MODEL_ON_INSTANCE, Problem
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.source import KeyPath

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
    for path, built in model.facts.plans.items():
        plan, remedy = f"{model.name}/{path}", f"build it inside the image of {contents.name}"
        if not built:
            message = f"{plan} has an unknown header: the TensorRT that built it is unknown"
            yield Problem(model.path, message, remedy, certain=False)
        elif not _may_be(built, contents):
            has = contents.tensorrt or f"at least {contents.tensorrt_least}"
            message = f"{plan} was built with TensorRT {built}; the image of Triton {contents.name} has {has}"
            hint = f"{remedy}, or use the release that it was built in"
            yield Problem(model.path, message, hint, certain=not _might_be(built, contents))


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
    named, plans = model.facts.by_compute_capability, model.facts.plans
    own = named.get(machine.compute_capability, "")
    if own.endswith(PLAN) and plans and not any(path.endswith(f"/{own}") for path in plans):
        message = (
            f"model {model.name!r} names the plan {own} for compute capability"
            f" {machine.compute_capability}, but that file does not exist"
        )
        yield Problem(model.path, message, "put it into the version directory")
    default = any(path.endswith("/model.plan") for path in plans)
    if named and machine.compute_capability not in named and not default:
        message = (
            f"model {model.name!r} has plans for compute capability {', '.join(sorted(named))};"
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
    known = {model.index for model in endpoint.models}
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
        elif index in known - with_plans:
            message = f"{archive.archive!r} contains no TensorRT plan, so `built_on` has no effect"
            yield Problem(path, message, "leave it out", certain=False)
        elif (builder := instance(archive.built_on)).gpu != machine.gpu:
            message = (
                f"the plans of {archive.archive!r} were built on {_machine_text(builder)}, and"
                f" {_machine_text(machine)} has to load them"
            )
            other = f", or use an instance with the GPU {builder.gpu}" if builder.gpu else ""
            yield Problem(path, message, f"build them on {machine.type}{other}")


def _machine_text(machine: Instance) -> str:
    return f"{machine.type} ({machine.gpu or 'no GPU'})"


def _may_be(built: str, release: Release) -> bool:
    """Whether a plan's TensorRT is the release's, in the parts that are known of both."""
    return not versions_differ(built, release.tensorrt) if release.tensorrt else _might_be(built, release)


def _might_be(built: str, release: Release) -> bool:
    """Whether the release may have it: no source names another."""
    if release.tensorrt and release.tensorrt_certain:
        return not versions_differ(built, release.tensorrt)
    least, most = numbers(release.tensorrt_least or "0"), numbers(release.tensorrt_most or "99")
    return least <= numbers(built) <= most
