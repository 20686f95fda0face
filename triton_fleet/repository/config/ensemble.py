"""An ensemble's own settings, and how its tensors flow: written, read, or never there.

Source: triton-inference-server/core, r26.06, src/model_config_utils.cc, ValidateEnsembleSchedulingConfig and
BuildEnsembleGraph.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import islice

from triton_fleet.findings import Finding
from triton_fleet.repository.config.backend import ENSEMBLE
from triton_fleet.repository.config.message import ParsedConfig, Position

SCHEDULING = "ensemble_scheduling"
CODE = "FL427"
FLOW_CODE = "FL428"
STEP = ("ensemble_scheduling", "step")
MAX_NAMES = 20
"""The most findings of one kind for an ensemble."""
NO_STEPS = 'a backend runs no steps: write `platform: "ensemble"` and no `backend`, or leave it out'
REASONS = {
    "instance_group": "an ensemble has no instances",
    "optimization": "an ensemble runs no backend",
    "model_warmup": "an ensemble loads nothing",
}
"""Why an ensemble cannot have a key that other models have."""
HINTS = {
    "model_name": 'write `model_name: "..."`, a model of the same repository',
    "input_map": "the key is the composing model's input, the value the ensemble's tensor",
    "output_map": "the key is the composing model's output, the value the ensemble's tensor",
}


def ensemble(config: ParsedConfig) -> Iterator[Finding]:
    """Findings in an ensemble, or in a model that is not one and looks like one."""
    message, name = config.message, config.name
    if not message.HasField(SCHEDULING):
        if message.platform == ENSEMBLE:
            reason = f"ensemble scheduling must be set for ensemble {name} whose platform is ensemble"
            hint = "write `ensemble_scheduling { step [ ... ] }`"
            yield config.finding(CODE, reason, "platform", hint=hint)
        return
    if message.platform != ENSEMBLE:
        reason = f"ensemble scheduling cannot be set for model '{name}' whose platform is not ensemble"
        yield config.finding(CODE, reason, SCHEDULING, hint=NO_STEPS)
        return
    settings = {
        "instance_group": (bool(message.instance_group), "instance group should not be specified"),
        "optimization": (message.HasField("optimization"), "optimization should not be specified"),
        "model_warmup": (bool(message.model_warmup), "model_warmup can not be specified"),
    }
    for key, (is_set, reason) in settings.items():
        if is_set:
            hint = f"leave out `{key}`: {REASONS[key]}, so it belongs to the composing models"
            yield config.finding(CODE, f"{reason} for ensemble '{name}'", key, hint=hint)
    if not message.ensemble_scheduling.step:
        reason = f"must specify 'step' for ensemble '{name}'"
        yield config.finding(CODE, reason, SCHEDULING, hint="write a `step` for each composing model")
        return
    incomplete = list(_incomplete(config))
    yield from incomplete or flow(config)


def _incomplete(config: ParsedConfig) -> Iterator[Finding]:
    for index, step in enumerate(config.message.ensemble_scheduling.step):
        for key, hint in HINTS.items():
            if not getattr(step, key):
                message = f"must specify '{key}' in step {index} of ensemble '{config.name}'"
                yield config.finding(CODE, message, SCHEDULING, "step", index, hint=hint)


@dataclass
class FlowTensor:
    """A tensor: where it stands, whether a step writes and reads it, and what it waits for."""

    place: Position
    is_written: bool = False
    read: bool = False
    sources: set[str] = field(default_factory=set)


def flow(config: ParsedConfig) -> Iterator[Finding]:
    """Tensors that are written twice or never, or are never read, and inputs and outputs without a use.

    An ensemble without any input or output has one finding for all of its tensors.
    """
    tensors, duplicates = _graph(config)
    if missing_keys := [key for key in ("input", "output") if not getattr(config.message, key)]:
        yield _without_ends(config, tensors, missing_keys)
        return
    ready = _ready(tensors, {tensor.name for tensor in config.message.input})
    for findings in (
        duplicates,
        _without_use(config, tensors),
        _unwritten_tensors(config, tensors, ready),
        _unused_tensors(config, tensors, ready),
    ):
        yield from islice(findings, MAX_NAMES)


def _graph(config: ParsedConfig) -> tuple[dict[str, FlowTensor], list[Finding]]:
    tensors, duplicates = dict[str, FlowTensor](), list[Finding]()
    for index, step in enumerate(config.message.ensemble_scheduling.step):
        for output, name in sorted(step.output_map.items()):
            place: Position = (*STEP, index, "output_map", output)
            tensor = tensors.setdefault(name, FlowTensor(place))
            if tensor.is_written and len(duplicates) < MAX_NAMES:
                message = (
                    f"ensemble tensor '{name}' can appear in an output map only once for ensemble"
                    f" '{config.name}' step {index}"
                )
                duplicates.append(
                    config.finding(FLOW_CODE, message, *place, hint="give this output another tensor")
                )
            tensor.is_written = True
            tensor.sources |= set(step.input_map.values())
        for own, name in sorted(step.input_map.items()):
            tensors.setdefault(name, FlowTensor((*STEP, index, "input_map", own))).read = True
    return tensors, duplicates


def _ready(tensors: Mapping[str, FlowTensor], inputs: Set[str]) -> set[str]:
    """The tensors that all steps produce from the ensemble's inputs, with these inputs."""
    counts = {name: len(tensor.sources) for name, tensor in tensors.items()}
    after = _after(tensors)
    ready, queue = set[str](), deque(name for name in tensors if name in inputs)
    while queue:
        name = queue.popleft()
        if name in ready:
            continue
        ready.add(name)
        for successor in after.get(name, ()):
            counts[successor] -= 1
            if not counts[successor]:
                queue.append(successor)
    return ready


def _after(tensors: Mapping[str, FlowTensor]) -> dict[str, list[str]]:
    """By tensor, those that wait for it."""
    after = dict[str, list[str]]()
    for name, tensor in tensors.items():
        for source in tensor.sources:
            after.setdefault(source, []).append(name)
    return after


def _without_ends(
    config: ParsedConfig, tensors: Mapping[str, FlowTensor], missing_keys: Sequence[str]
) -> Finding:
    candidates = {
        "input": [name for name, tensor in tensors.items() if not tensor.is_written],
        "output": [name for name, tensor in tensors.items() if not tensor.read],
    }
    keys = " and no ".join(f"`{key}`" for key in missing_keys)
    message = f"ensemble '{config.name}' has no {keys}, so its tensors are unused"
    hint = "; ".join(
        f"write an `{key}` for {_name_list(candidates[key]) or 'a tensor of its steps'}"
        for key in missing_keys
    )
    return config.finding(FLOW_CODE, message, SCHEDULING, hint=hint)


def _name_list(names: Sequence[str]) -> str:
    more = f" and {len(names) - MAX_NAMES} more" if len(names) > MAX_NAMES else ""
    return ", ".join(sorted(names)[:MAX_NAMES]) + more


def _without_use(config: ParsedConfig, tensors: Mapping[str, FlowTensor]) -> Iterator[Finding]:
    for kind in ("input", "output"):
        for index, tensor in enumerate(getattr(config.message, kind)):
            if tensor.name not in tensors:
                message = f"ensemble {kind} '{tensor.name}' for ensemble {config.name}' is not used"
                hint = f"no step's `{kind}_map` has it as a value: map it, or leave it out"
                yield config.finding(FLOW_CODE, message, kind, index, hint=hint)


def _unwritten_tensors(
    config: ParsedConfig, tensors: Mapping[str, FlowTensor], ready: Set[str]
) -> Iterator[Finding]:
    for index, output in enumerate(config.message.output):
        if output.name not in tensors or output.name in ready:
            continue
        message = f"output '{output.name}' for ensemble '{config.name}' is not written"
        last, chain = output.name, {output.name}
        while source := min(tensors[last].sources - ready - chain, default=""):
            last = source
            chain.add(last)
        if last != output.name:
            message += f": at least one of its depending tensors, '{last}', is not connected"
        message_start = f"no step writes '{last}', and it is not an input"
        hint = "the steps run in a circle" if tensors[last].is_written else message_start
        yield config.finding(FLOW_CODE, message, "output", index, hint=hint)


def _unused_tensors(
    config: ParsedConfig, tensors: Mapping[str, FlowTensor], ready: Set[str]
) -> Iterator[Finding]:
    """Tensors that are never read or written; those that an output waits for are reported with it."""
    outputs = {output.name for output in config.message.output}
    reachable = _before(tensors, outputs)
    for name, tensor in sorted(tensors.items()):
        if name not in outputs and (name not in ready or not tensor.read):
            message = f"ensemble tensor '{name}' is unused in ensemble '{config.name}'"
            if name in ready:
                hint = "no step reads it, and it is not an output"
                yield config.finding(FLOW_CODE, message, *tensor.place, hint=hint)
            elif name not in reachable:
                hint = "no step writes it, and it is not an input"
                if tensor.is_written:
                    hint = "its step waits for a tensor that is not written"
                yield config.finding(FLOW_CODE, message, *tensor.place, hint=hint)


def _before(tensors: Mapping[str, FlowTensor], names: Iterable[str]) -> set[str]:
    """The tensors that some of these wait for, near and far."""
    before, queue = set[str](), deque(names)
    while queue:
        tensor = tensors.get(queue.popleft())
        for source in tensor.sources - before if tensor else ():
            before.add(source)
            queue.append(source)
    return before
