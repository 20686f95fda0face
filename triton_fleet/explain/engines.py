"""The decisions about TensorRT engines."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.builds.engines.artifacts import locked_engine
from triton_fleet.builds.engines.endpoint_engines import command_line, named_model, planned_engines
from triton_fleet.context.context import EndpointContext
from triton_fleet.explain.decision import Decision, dated_facts


def engine_decisions(endpoint: EndpointContext) -> Iterator[Decision]:
    """Each engine's key, who builds it, and how trtexec is called."""
    for planned in planned_engines(endpoint):
        model = named_model(endpoint, planned)
        locked = locked_engine(endpoint.spec, endpoint.locked, planned.index, planned.model)
        key = None if locked is None else planned.build(locked.onnx).key
        reason = f"of {planned.engine.onnx}, trtexec's arguments, {planned.gpu} and {planned.image}"
        if locked is None:
            reason = "the lock has no digest of its ONNX model yet"
        yield Decision(group="engines", what=f"engine of {model}", value=key, reason=reason)
        runner = planned.runner
        yield Decision(
            group="engines",
            what=f"built for {model} by",
            value=f"{runner.way} on {runner.instance_type}",
            reason=runner.why,
            facts=(dated_facts("builds.yaml"),),
        )
        yield Decision(
            group="engines",
            what=f"command for {model}",
            value=command_line(planned),
            reason=f"in the spelling of TensorRT {planned.tensorrt}, which the image has",
            facts=(dated_facts("releases.yaml"), dated_facts("tensorrt.yaml")),
            certain=planned.certain,
        )
