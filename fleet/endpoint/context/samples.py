"""Samples as the endpoint check is given them, and how large they are on their way to it."""

from __future__ import annotations

import json
from math import prod

from fleet.endpoint.context.targets import target_models
from fleet.spec.datatypes import Datatype
from fleet.spec.endpoint import EndpointSpec
from fleet.spec.samples import Input, Sample, flat

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
    """The TargetModels that are loaded after a deploy."""
    targets = target_models(spec)
    return tuple(targets.get(name, name) for name in spec.warm)


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
