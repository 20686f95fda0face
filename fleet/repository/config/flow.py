"""How tensors flow through an ensemble: what is written, what is read, and what never arrives.

Source: triton-inference-server/core, r26.06, src/model_config_utils.cc, ValidateEnsembleSchedulingConfig and
BuildEnsembleGraph.
"""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass, field

from fleet.findings import Finding
from fleet.repository.config.parsed import ParsedConfig

CODE = "FL428"
STEP = ("ensemble_scheduling", "step")
PlaceOf = tuple[str | int, ...]


@dataclass
class Tensor:
    """A tensor of the ensemble: which others have to be there before it, where it stands, who reads it."""

    place: PlaceOf
    written: bool = False
    read: bool = False
    sources: set[str] = field(default_factory=set)


def flow(config: ParsedConfig) -> Iterator[Finding]:
    """Tensors that are written twice, never or for nobody, and inputs and outputs without a use."""
    tensors, twice = _graph(config)
    yield from twice
    inputs = {each.name for each in config.message.input}
    outputs = {each.name for each in config.message.output}
    ready = _ready(tensors, inputs)
    for kind, message in (("input", config.message.input), ("output", config.message.output)):
        for index, each in enumerate(message):
            if each.name not in tensors:
                said = f"ensemble {kind} '{each.name}' for ensemble {config.name}' is not used"
                hint = f"no step's `{kind}_map` has it as a value: map it, or leave it out"
                yield config.finding(CODE, said, kind, index, hint=hint)
    for index, each in enumerate(config.message.output):
        if each.name in tensors and each.name not in ready:
            yield _not_written(config, index, each.name, tensors, ready)
    for name, tensor in sorted(tensors.items()):
        if name not in outputs and (name not in ready or not tensor.read):
            said = f"ensemble tensor '{name}' is unused in ensemble '{config.name}'"
            hint = "nothing writes it" if name not in ready else "no step reads it, and it is no output"
            if name in ready or not outputs & _after(tensors, name):
                yield config.finding(CODE, said, *tensor.place, hint=hint)


def _graph(config: ParsedConfig) -> tuple[dict[str, Tensor], list[Finding]]:
    tensors, twice = dict[str, Tensor](), list[Finding]()
    for index, step in enumerate(config.message.ensemble_scheduling.step):
        for output, name in sorted(step.output_map.items()):
            place: PlaceOf = (*STEP, index, "output_map", output)
            tensor = tensors.setdefault(name, Tensor(place))
            if tensor.written:
                said = (
                    f"ensemble tensor '{name}' can appear in an output map only once for ensemble"
                    f" '{config.name}' step {index}"
                )
                twice.append(config.finding(CODE, said, *place, hint="give this output another tensor"))
            tensor.written = True
            tensor.sources |= set(step.input_map.values())
        for own, name in sorted(step.input_map.items()):
            tensors.setdefault(name, Tensor((*STEP, index, "input_map", own))).read = True
    return tensors, twice


def _ready(tensors: dict[str, Tensor], inputs: Set[str]) -> set[str]:
    """The tensors that are there at last, when the ensemble's inputs are there at first."""
    ready = {name for name in inputs if name in tensors}
    while True:
        more = {
            name
            for name, tensor in tensors.items()
            if name not in ready and tensor.written and tensor.sources <= ready
        }
        if not more:
            return ready
        ready |= more


def _not_written(
    config: ParsedConfig, index: int, name: str, tensors: dict[str, Tensor], ready: Set[str]
) -> Finding:
    said = f"output '{name}' for ensemble '{config.name}' is not written"
    last, seen = name, {name}
    while missing := sorted(tensors[last].sources - ready - seen):
        last = missing[0]
        seen.add(last)
    if last != name:
        said += f": at least one of its depending tensors, '{last}', is not connected"
    hint = (
        f"no step writes '{last}', and it is no input"
        if not tensors[last].written
        else "the steps run in a circle"
    )
    return config.finding(CODE, said, "output", index, hint=hint)


def _after(tensors: dict[str, Tensor], name: str) -> set[str]:
    """The tensors that wait for one, near and far."""
    after = {name}
    while more := {each for each, tensor in tensors.items() if tensor.sources & after} - after:
        after |= more
    return after
