"""Samples as the endpoint check is given them, and how large they are on their way to it."""

from __future__ import annotations

import json
from math import prod

from triton_fleet.context.targets import target_models
from triton_fleet.spec.datatypes import Datatype
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.samples import Input, Sample, flat

OK = 200
_LENGTH_BYTES = 4
"""In front of each element of BYTES; source: Triton, binary tensor data extension."""


def samples_text(spec: EndpointSpec) -> str:
    """All samples as JSON in ASCII, with TargetModels for archives; what they leave out is left out."""
    targets = target_models(spec)
    samples = [sample.model_dump(mode="json", exclude_none=True) for sample in spec.samples]
    for sample in samples:
        if "target" in sample:
            sample["target"] = targets.get(sample["target"], sample["target"])
    return json.dumps(samples, separators=(",", ":"))


def warm_targets(spec: EndpointSpec) -> tuple[str, ...]:
    """The TargetModels that a deploy loads by a call that their model refuses.

    An archive with a sample that is to be answered is loaded by that one: SageMaker counts a refused call as
    a failure.
    """
    targets, answered = target_models(spec), answered_targets(spec)
    return tuple(targets.get(name, name) for name in spec.warm if name not in answered)


def answered_targets(spec: EndpointSpec) -> set[str]:
    """The archives that a sample calls which is to be answered."""
    return {sample.target for sample in spec.samples if sample.target and sample.status == OK}


def event_bytes(spec: EndpointSpec) -> int:
    """What samples and targets take of an update's event, which has those of the last deploy as well.

    Counted as JSON within JSON: for another look the framework throws the event as the text of an error.
    """
    return 2 * sum(len(json.dumps(json.dumps(each))) for each in (samples_text(spec), warm_targets(spec)))


def request_bytes(sample: Sample) -> int:
    """The tensors of a sample's request, without its header."""
    return sum(map(_tensor_bytes, sample.inputs.values()))


def _tensor_bytes(tensor: Input) -> int:
    if tensor.datatype is not Datatype.BYTES:
        return prod(tensor.shape) * tensor.datatype.bytes
    texts = [_LENGTH_BYTES + len(str(element).encode()) for element in flat(tensor.data)]
    return sum(texts) if isinstance(tensor.data, list) else prod(tensor.shape) * texts[0]
