"""The PyTorch backend's parameters, read as it reads them.

Source: triton-inference-server/pytorch_backend, src/pt/model_state.cc, ParseParameters, and for what each of
them means to torch src/pt/model_instance_state.cc, Execute.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from triton_fleet.catalog.backends import backends
from triton_fleet.findings import Severity
from triton_fleet.repository.config.parameter_values import WHOLE, wrong_value

MAX_THREADS = 256
"""No SageMaker instance has as many cores; at 100,000 torch ends the process, and Triton with it."""
TRUE = ("true", "1", "on")
NOWHERE = {
    "DISABLE_CUDNN": "cuDNN is of GPUs",
    "ENABLE_CACHE_CLEANING": "the cache is of a GPU's memory",
    "ENABLE_WEIGHT_SHARING": "each instance is a process of its own here, with weights of its own",
}
"""What is read here and has no effect, and why."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings that a model's parameters give; None leaves torch its default."""

    inference_mode: bool
    optimized: bool
    executor: bool | None
    profiling: bool | None
    fuser: bool | None
    intra_op: int | None
    inter_op: int | None
    without_effect: tuple[str, ...]
    """A line for each parameter that is given and does nothing on this machine."""


def read_settings(model: str, parameters: Mapping[str, str]) -> Settings:
    """The settings that the parameters of a configuration make.

    Raises:
        ValueError: the backend cannot read one; in its words. Or one asks for more than MOST_THREADS.
    """
    flags, counts = dict[str, bool](), dict[str, int]()
    for name, parameter in backends()["pytorch"].parameters.items():
        value = parameters.get(name, parameter.default)
        if parameter.until or (name not in parameters and not value):
            continue
        wrong = wrong_value(parameter, value, model, None)
        if wrong and wrong.severity is Severity.ERROR:
            raise ValueError(f"model '{model}', parameter {name}: {wrong.message}")
        if parameter.number:
            counts[name] = int(WHOLE.match(value)[1])  # type: ignore[index]  # else it were wrong
        else:
            flags[name] = value.lower() in TRUE
    return Settings(
        inference_mode=flags["INFERENCE_MODE"],
        optimized=not flags["DISABLE_OPTIMIZED_EXECUTION"],
        executor=flags.get("ENABLE_JIT_EXECUTOR"),
        profiling=flags.get("ENABLE_JIT_PROFILING"),
        fuser=flags.get("ENABLE_TENSOR_FUSER"),
        intra_op=_threads(model, counts, "INTRA_OP_THREAD_COUNT"),
        inter_op=_threads(model, counts, "INTER_OP_THREAD_COUNT"),
        without_effect=tuple(f"{name} ({why})" for name, why in NOWHERE.items() if name in parameters),
    )


def _threads(model: str, counts: Mapping[str, int], name: str) -> int | None:
    """A count of 0 or less is as good as none."""
    count = counts.get(name, 0)
    if count > MAX_THREADS:
        reason = f"the stand-in takes {MAX_THREADS} threads at most, not {count}"
        raise ValueError(f"model '{model}', parameter {name}: {reason}")
    return count if count > 0 else None
