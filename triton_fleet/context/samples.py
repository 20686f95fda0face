"""Samples as the endpoint check is given them, the archives that they call, and how large requests may be."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from triton_fleet.catalog.limits import guide_body_limit, model_body_limit
from triton_fleet.spec.datatypes import Datatype
from triton_fleet.spec.endpoint import EndpointSpec
from triton_fleet.spec.samples import Input, Sample, flat


def target_model(archive: str, version: int | None) -> str:
    """A name that a caller gives as TargetModel."""
    return f"{archive}{'' if version is None else f'-v{version}'}.tar.gz"


def target_models(spec: EndpointSpec) -> Mapping[str, str]:
    """The TargetModel of each archive, by its name; copies are archives of their own."""
    return {archive.name: target_model(archive.name, archive.version) for archive in spec.packed_archives}


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
    targets, sample_targets = target_models(spec), answered_targets(spec)
    return tuple(targets.get(name, name) for name in spec.warm if name not in sample_targets)


def answered_targets(spec: EndpointSpec) -> set[str]:
    """The archives that a sample calls which is to be answered."""
    return {sample.target for sample in spec.samples if sample.target and sample.status == OK}


def event_bytes(spec: EndpointSpec) -> int:
    """The part of an update's event for samples and targets; it has those of the last deploy as well.

    Counted as JSON within JSON: for another look the framework throws the event as the text of an error.
    """
    return 2 * sum(len(json.dumps(json.dumps(text))) for text in (samples_text(spec), warm_targets(spec)))


def request_bytes(sample: Sample) -> int:
    """The tensors of a sample's request, without its header."""
    return sum(map(_tensor_bytes, sample.inputs.values()))


def _tensor_bytes(tensor: Input) -> int:
    if tensor.datatype is not Datatype.BYTES:
        return prod(tensor.shape) * tensor.datatype.bytes
    texts = [_LENGTH_BYTES + len(str(element).encode()) for element in flat(tensor.data)]
    return sum(texts) if isinstance(tensor.data, list) else prod(tensor.shape) * texts[0]


CODE = "FL260"
"""The rule `oversized-request`, whose texts these are, of a spec and of a call alike."""
_MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class Oversize:
    """A mistake in the size of a request; `certain`: SageMaker refuses it by every source."""

    message: str
    hint: str
    certain: bool


def oversize(request: str, size: int, *, is_least: bool = False) -> Oversize | None:
    """The mistake in the size of a request of `size` bytes, or None where every source of AWS allows it.

    Args:
        request: How the message names it, such as `the request`.
        size: Bytes of its body.
        is_least: Its body may have more.
    """
    model, guide = model_body_limit(), guide_body_limit()
    has = f"{request} has {'at least ' if is_least else ''}{size / _MIB:.1f} MiB"
    if size > guide.bytes:
        hint = (
            "send less: encoded (JPEG, text) for a first model to decode, or the URI of an S3 object that the"
            " model reads; or use an asynchronous endpoint, which Triton Fleet does not create"
        )
        message = f"{has}; a real-time call accepts {guide.words} ({guide.name})"
        return Oversize(message=message, hint=hint, certain=True)
    if size > model.bytes:
        hint = "send one such request to an endpoint in your account before callers depend on it"
        message = f"{has}: {guide.name} allow {guide.words}, {model.name} allows {model.words}"
        return Oversize(message=message, hint=hint, certain=False)
    return None
