"""The engines of an endpoint, ready to be built."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from triton_fleet.builds.engines.artifacts import EngineBuild, locked_engine
from triton_fleet.builds.engines.endpoint_engines import planned_engines
from triton_fleet.builds.engines.runner import Runner
from triton_fleet.context.context import EndpointContext
from triton_fleet.spec.source import Mark


@dataclass(frozen=True, kw_only=True)
class ResolvedEngine:
    """One TensorRT plan.

    Attributes:
        model: The model that it is for, as the repository calls it; copies have other names.
        index: Which entry of the spec's `models` it belongs to; all copies share it.
        build: What it is built from, and its key.
        runner: Who builds it.
        onnx: The ONNX model as the spec names it: a file relative to it, or `s3://BUCKET/KEY.onnx`.
        size: The ONNX model's, in bytes.
        mark: Where in the spec it stands.
    """

    model: str
    index: int
    build: EngineBuild
    runner: Runner
    onnx: str
    size: int
    mark: Mark


def resolved_engines(endpoint: EndpointContext) -> tuple[ResolvedEngine, ...]:
    """The engines that the spec asks for and the lock knows, in the order of the spec."""
    return tuple(_resolve_engines(endpoint))


def _resolve_engines(endpoint: EndpointContext) -> Iterator[ResolvedEngine]:
    for planned in planned_engines(endpoint):
        locked = locked_engine(endpoint.spec, endpoint.locked, planned.index, planned.model)
        if locked is not None:
            yield ResolvedEngine(
                model=planned.model,
                index=planned.index,
                build=planned.build(locked.onnx),
                runner=planned.runner,
                onnx=planned.engine.onnx,
                size=locked.size,
                mark=endpoint.source.mark(planned.path),
            )
