"""The engines that an endpoint's spec asks for, each with its command line and with what builds it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from shlex import join

from triton_fleet.builds.engines.artifacts import PLAN, EngineBuild
from triton_fleet.builds.engines.runner import Runner, runner_for
from triton_fleet.catalog.engines import engine_option, option_spelling
from triton_fleet.catalog.images import Image, Release
from triton_fleet.catalog.instances import Instance, Processor
from triton_fleet.context.context import EndpointContext
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.engine import Compatibility, Engine, Precision
from triton_fleet.spec.source import KeyPath
from triton_fleet.spec.values import BYTES


@dataclass(frozen=True, kw_only=True)
class EndpointEngine:
    """One engine, all but its ONNX model's content.

    Attributes:
        path: Where it stands in the spec.
        index: Which entry of the spec's `models` it belongs to.
        engine: As the spec has it.
        detailed_arguments: The arguments of trtexec, each with its reason.
        gpu: The GPU's model, `A10G`.
        compute_capability: `8.6`.
        image: The container image without its registry, `sagemaker-tritonserver:25.04-py3`.
        tensorrt: The version in it that the arguments are written for, `10.9.0.34`.
        certain: Whether a source states that version.
        runner: Who builds it.
    """

    path: KeyPath
    index: int
    engine: Engine
    detailed_arguments: tuple[Argument, ...]
    gpu: str
    compute_capability: str
    image: str
    tensorrt: str
    certain: bool
    runner: Runner

    @property
    def model(self) -> str:
        """The model that the plan is for, as the repository calls it; copies have other names."""
        return self.engine.model

    @property
    def arguments(self) -> tuple[str, ...]:
        """trtexec's, all but those that name files."""
        return tuple(argument.text for argument in self.detailed_arguments)

    def build(self, onnx_digest: str) -> EngineBuild:
        """Facts that its key follows from, with an ONNX model of that digest."""
        return EngineBuild(
            onnx=onnx_digest,
            arguments=self.arguments,
            gpu=self.gpu,
            compute_capability=self.compute_capability,
            image=self.image,
        )


def planned_engines(endpoint: EndpointContext) -> tuple[EndpointEngine, ...]:
    """Every engine of a spec, in its order; none if no image, GPU or builder fits, which rules report."""
    image, machine = endpoint.engine_image, endpoint.machine
    if image is None or machine is None or machine.kind is not Processor.GPU:
        return ()
    runner = runner_for(machine, endpoint.region)
    tensorrt = expected_tensorrt(image.details)
    if not isinstance(runner, Runner) or tensorrt is None:
        return ()
    return tuple(
        _plan_engine(path, index, engine, machine, image, tensorrt, runner)
        for path, index, engine in spec_engines(endpoint.spec)
    )


def spec_engines(spec: EndpointSpec) -> Iterator[tuple[KeyPath, int, Engine]]:
    """The engines of a spec: the place of each, its entry of `models`, and its keys."""
    for index, archive in enumerate(spec.models):
        for number, engine in enumerate(archive.engines):
            yield ("models", index, "engines", number), index, engine


def spec_engine(spec: EndpointSpec, index: int, model: str) -> tuple[KeyPath, Engine]:
    """The engine of a model: its place, and its keys."""
    engines = spec_engines(spec)
    return next((path, engine) for path, of, engine in engines if (of, engine.model) == (index, model))


def named_model(endpoint: EndpointContext, engine: EndpointEngine) -> str:
    """An engine's model for people, with its archive where that has another name."""
    archive = endpoint.spec.models[engine.index].archive
    return engine.model if archive == engine.model else f"{engine.model} in {archive}"


def expected_tensorrt(release: Release) -> str | None:
    """The TensorRT that arguments are written for: the release's, or the oldest that it may have."""
    return release.tensorrt or release.min_tensorrt


def _plan_engine(
    path: KeyPath, index: int, engine: Engine, machine: Instance, image: Image, tensorrt: str, runner: Runner
) -> EndpointEngine:
    return EndpointEngine(
        path=path,
        index=index,
        engine=engine,
        detailed_arguments=trtexec_arguments(engine, tensorrt),
        gpu=machine.gpu,
        compute_capability=machine.compute_capability,
        image=image.content,
        tensorrt=tensorrt,
        certain=image.details.tensorrt_certain,
        runner=runner,
    )


def command_line(engine: EndpointEngine) -> str:
    """For a shell in the image, in the folder of the ONNX model."""
    onnx = PurePosixPath(engine.engine.onnx.removeprefix("s3://")).name
    return join(["trtexec", f"--onnx={onnx}", f"--saveEngine={PLAN}", *engine.arguments])


SHAPES = {
    "smallest": "the smallest shapes that a request may have",
    "usual": "the shapes that it is optimised for",
    "largest": "the largest shapes that a request may have",
}
"""What each of an input's three shapes is for."""


@dataclass(frozen=True)
class Argument:
    """One argument of trtexec, its reason, and its price in words; empty if it has none."""

    text: str
    reason: str
    price: str = ""


def trtexec_arguments(engine: Engine, tensorrt: str) -> tuple[Argument, ...]:
    """The arguments that decide the result, without those that name files, in an order that never varies.

    What that TensorRT does not have is left out; the rule unsupported-engine-option finds it.

    Args:
        engine: As the spec has it.
        tensorrt: The version in the image, `10.9.0.34`.
    """
    return tuple(_arguments(engine, tensorrt))


def _arguments(engine: Engine, tensorrt: str) -> Iterator[Argument]:
    for number, (role, reason) in enumerate(SHAPES.items() if engine.shapes else ()):
        shapes = ",".join(f"{name}:{shapes[number]}" for name, shapes in sorted(engine.shapes.items()))
        yield Argument(option_spelling(role, tensorrt, shapes), f"`shapes`: {reason}")
    precision = engine_option("precision", engine.precision)
    if engine.precision is not Precision.FP32 and precision.known_to(tensorrt):
        reason = (
            f"`precision: {engine.precision}`: layers may compute in {engine.precision} where that is faster"
        )
        yield Argument(precision.flag, reason, precision.price)
    compatibility = engine_option("compatibility", engine.compatibility)
    if engine.compatibility is not Compatibility.NONE and compatibility.known_to(tensorrt):
        reason = f"`compatibility: {engine.compatibility}`: the plan loads on other GPUs too"
        yield Argument(compatibility.flag, reason, compatibility.price)
    if engine.workspace is not None:
        size = engine.workspace // BYTES["MiB"]
        reason = f"`workspace`: a layer uses {size} MiB at most beside its tensors"
        yield Argument(
            option_spelling("workspace", tensorrt, str(size)),
            reason,
            "tactics that need more memory are not used",
        )
    yield Argument(option_spelling("build_only", tensorrt), "only the plan is needed: nothing is measured")
