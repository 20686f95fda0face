"""Execution accelerators: those that the model's backend knows, and what each takes.

Sources: onnxruntime_backend, src/onnxruntime.cc, LoadModel; tensorflow_backend, src/tensorflow.cc, likewise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from triton_fleet.catalog.backends import Accelerator, Backend
from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.config.devices import runs_on_gpu
from triton_fleet.repository.config.message import ParsedConfig, Position
from triton_fleet.repository.config.parameter_values import wrong_value

CODE = "FL454"


def accelerators(config: ParsedConfig, facts: Backend, release: str | None) -> Iterator[Finding]:
    """What is wrong with a model's execution accelerators; instances on a GPU alone read those for GPUs."""
    on_gpu = runs_on_gpu(config)
    for device, known in facts.accelerators.items():
        if device == "gpu" and on_gpu is False:
            continue
        severity = Severity.WARNING if device == "gpu" and on_gpu is None else Severity.ERROR
        given = config.message.optimization.execution_accelerators
        field = f"{device}_execution_accelerator"
        for index, each in enumerate(getattr(given, field)):
            place = ("optimization", "execution_accelerators", field, index)
            yield from _accelerator(config, each, known, place, severity, release)


def _accelerator(
    config: ParsedConfig,
    given: Any,
    known: Mapping[str, Accelerator],
    place: Position,
    severity: Severity,
    release: str | None,
) -> Iterator[Finding]:
    there = [each.name for each in known.values() if release is None or each.since <= release]
    if given.name not in there:
        message = f"unknown Execution Accelerator '{given.name}' is requested"
        hint = f"the backend has {', '.join(there)}"
        yield config.finding(CODE, message, *place, "name", hint=hint, severity=severity)
        return
    accelerator = known[given.name]
    for key in sorted(given.parameters):
        parameter, wrong = accelerator.parameters.get(key), None
        later = parameter is not None and release is not None and parameter.since > release
        if later or (parameter is None and not accelerator.open):
            since = (
                f"Triton has it from {parameter.since} on, and the image is {release}" if parameter else ""
            )
            message = accelerator.message.format(key=key)
            hint = since or f"it takes {', '.join(sorted(accelerator.parameters))}"
        elif parameter and (wrong := wrong_value(parameter, given.parameters[key], config.name, release)):
            message, hint = wrong.message, wrong.hint
        else:
            continue
        weighs = wrong.severity if wrong and severity is Severity.ERROR else severity
        yield config.finding(CODE, message, *place, "parameters", key, hint=hint, severity=weighs)
