"""Requirements of the FIL backend on a forest's configuration.

Sources: triton-inference-server/fil_backend, r24.10 and r26.05, src/shared_state.h, load, and src/model.h,
predict; rapidsai/rapids-triton, shared_state.hpp, get_config_param and get_output_shape, triton/input.hpp.
"""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.findings import Finding, Severity
from triton_fleet.repository.config.message import ParsedConfig

NEW_NAMES_SINCE = "25.09"
"""The release that renamed `output_class` to `is_classifier`; it still takes the old name, in lower case."""
INPUT, OUTPUT = "input__0", "output__0"


def fil_parameters(config: ParsedConfig, release: str | None) -> Iterator[Finding]:
    """Parameters without which a forest is not loaded."""
    values = {key: value.string_value for key, value in config.message.parameters.items()}
    old, new = "output_class", "is_classifier"
    if release is not None and release < NEW_NAMES_SINCE:
        new_key, kind = old, values.get(old)
    elif values.get(old) in ("true", "false"):
        new_key, kind = new, values[old]
    else:
        new_key, kind = new, values.get(new)
    if kind is None:
        message = f"Required parameter {new_key} not found in config"
        hint = f'write `{_entry(new_key, "true")}`, or "false" of a regressor'
        severity, place = Severity.ERROR, ("parameters",)
        if new_key == old and new in values:
            hint = f"Triton calls `{new}` so from {NEW_NAMES_SINCE} on, and the image is {release}: {hint}"
            severity = Severity.WARNING
        yield config.finding("FL453", message, *place, hint=hint, severity=severity)
    elif kind == "true" and "threshold" not in values:
        message = "Required parameter threshold not found in config"
        hint = f"a classifier needs it: write `{_entry('threshold', '0.5')}`"
        yield config.finding("FL453", message, "parameters", hint=hint)


def _entry(key: str, value: str) -> str:
    return f'parameters {{ key: "{key}" value {{ string_value: "{value}" }} }}'


def fil_tensors(config: ParsedConfig) -> Iterator[Finding]:
    """Inputs and outputs with which a forest is loaded and answers no request."""
    inputs = {tensor.name: index for index, tensor in enumerate(config.message.input)}
    if INPUT not in inputs:
        message = (
            f"the FIL backend reads the input '{INPUT}', and model '{config.name}' has none of that name"
        )
        yield config.finding("FL455", message, "input", hint=f'write `name: "{INPUT}"`')
    else:
        index = inputs[INPUT]
        kind = config.enum(config.message.input[index], "data_type")
        if kind not in ("TYPE_FP32", "TYPE_INVALID"):
            data_type = kind.removeprefix("TYPE_")
            message = f"incorrect type {data_type} for input with required type FP32"
            yield config.finding(
                "FL455", message, "input", index, "data_type", hint="write `data_type: TYPE_FP32`"
            )
    if all(tensor.name != OUTPUT for tensor in config.message.output):
        message = f"No output with name {OUTPUT} in configuration."
        yield config.finding("FL455", message, "output", hint=f'write `name: "{OUTPUT}"`')
