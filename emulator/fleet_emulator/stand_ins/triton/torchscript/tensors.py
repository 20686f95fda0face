"""The PyTorch backend's parameters, read as it reads them.

Source: triton-inference-server/pytorch_backend, src/pt/model_state.cc, ParseParameters, and for what each of
them means to torch src/pt/model_instance_state.cc, Execute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from triton_fleet.catalog.backends import backends
from triton_fleet.findings import Severity
from triton_fleet.repository.config.libtorch import has_number
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


CLASS, DICT, LIST, TENSOR = "ClassType", "DictType", "ListType", "TensorType"
"""Kinds of types, as torch names them."""


@dataclass(frozen=True)
class Argument:
    """One argument of the model's `forward`: its name, and its type by kind and in words."""

    name: str
    kind: str
    type: str


def input_places(model: str, names: Sequence[str], forward: Sequence[Argument]) -> dict[str, int] | None:
    """The place of each input among the arguments; None where the only argument is a Dict by their names.

    Raises:
        ValueError: the model cannot be called with these inputs; in the backend's words where it has any.
    """
    if not names:
        raise ValueError("model configuration must contain at least one input, none were specified.")
    arguments = [each for index, each in enumerate(forward) if index or each.kind != CLASS]
    if [argument.kind for argument in arguments] == [DICT]:
        return None
    for argument in arguments:
        if argument.kind not in (TENSOR, LIST):
            raise ValueError(
                f"An input of type '{argument.type}' was detected in the model. Only a single input of type"
                " Dict(str, Tensor) or input(s) of type Tensor are supported."
            )
    if len(arguments) != len(names):
        raise ValueError(
            f"unable to load model '{model}', configuration expects {len(names)} inputs, model provides"
            f" {len(arguments)}"
        )
    own = [argument.name for argument in arguments]
    places = {name: own.index(name) for name in names} if set(names) <= set(own) else _numbers(names)
    if sorted(places.values()) != list(range(len(names))):
        # The backend does not look, and writes beside its list of tensors.
        listed = ", ".join(f"'{name}'" for name in names)
        raise ValueError(f"model '{model}': inputs {listed} are not numbered from 0 to {len(names) - 1}")
    return places


def output_places(names: Sequence[str]) -> dict[str, int]:
    """The place of each output in what the model answers.

    Raises:
        ValueError: there is no output.
    """
    if not names:
        raise ValueError("model configuration must contain at least one output, none were specified.")
    return _numbers(names)


def check_types(model: str, kind: str, tensors: Sequence[Mapping[str, Any]]) -> None:
    """Check the data types of inputs, or of outputs, as Triton gives them in a configuration.

    Raises:
        ValueError: the backend does not have one; in its words.
    """
    known = backends()["pytorch"].types
    for tensor in tensors:
        name, given = tensor["name"], tensor["data_type"]
        if given not in known:
            raise ValueError(f"unsupported datatype {given} for {kind} '{name}' for model '{model}'")


def _numbers(names: Sequence[str]) -> dict[str, int]:
    """The numbers of NAME__NUMBER if all names are such; else the order in the configuration counts."""
    if not all(has_number(name) for name in names):
        return {name: index for index, name in enumerate(names)}
    return {name: int(name.partition("__")[2] or 0) for name in names}


def answers(answer: Any, tensor: type) -> tuple[Any, ...]:
    """The outputs by their places: tensors, and lists of texts.

    Args:
        answer: What `forward` gave.
        tensor: The class of tensors.

    Raises:
        ValueError: it is neither, or a tuple that holds anything else, whether the configuration asks for it
            or not; in the backend's words where it has any.
    """
    if isinstance(answer, tuple):
        for index, each in enumerate(answer):
            if not _is_output(each, tensor, f"output at index {index}"):
                message = f"output at index {index}: Expected Tensor but got {type(each).__name__}"
                raise ValueError(message)
        return answer
    if not _is_output(answer, tensor, "output"):
        raise ValueError(
            "output must be of type Tensor, List[str] or Tuple containing one of these two types. It should"
            " not be a List / Dictionary of Tensors or a Scalar"
        )
    return (answer,)


def _is_output(answer: Any, tensor: type, what: str) -> bool:
    if not isinstance(answer, list):
        return isinstance(answer, tensor)
    others = [type(each).__name__ for each in answer if not isinstance(each, str)]
    if others:
        raise ValueError(f"{what} must be of type Tensor or List[str], received List[{others[0]}]")
    return True
