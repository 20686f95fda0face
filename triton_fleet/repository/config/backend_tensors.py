"""Inputs, outputs and instance groups that a model's backend refuses, without reading its files."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.catalog.backends import Backend, backend_facts
from triton_fleet.findings import Finding
from triton_fleet.repository.config.backend import backend_kinds
from triton_fleet.repository.config.fil import fil_tensors
from triton_fleet.repository.config.libtorch import libtorch_tensors
from triton_fleet.repository.config.message import ParsedConfig

CODE = "FL455"
NO_OPTIONAL_SINCE = "23.04"
"""Since when the ONNX Runtime backend knows optional inputs, and refuses them of models that batch."""


def backend_tensors(config: ParsedConfig, backend: str, release: str | None = None) -> Iterator[Finding]:
    """Findings of the backend that serves the model; none where it is not Triton's own.

    Args:
        config: The configuration.
        backend: What serves the model.
        release: The Triton release, such as "25.04"; None for the newest.
    """
    facts = backend_facts(backend, platform=config.message.platform, runtime=config.message.runtime)
    if facts is None:
        return
    yield from _types(config, facts, release)
    yield from backend_kinds(config, facts)
    match facts.name:
        case "pytorch":
            yield from libtorch_tensors(config, facts)
        case "fil":
            yield from fil_tensors(config)
        case "onnxruntime":
            yield from _optional(config, release)


def _types(config: ParsedConfig, facts: Backend, release: str | None) -> Iterator[Finding]:
    if not facts.types:
        return
    types = [
        type_name
        for type_name in facts.types
        if release is None or facts.types_since.get(type_name, "") <= release
    ]
    for kind in ("input", "output"):
        for index, tensor in enumerate(getattr(config.message, kind)):
            data_type = config.enum(tensor, "data_type")
            if data_type in (*types, "TYPE_INVALID"):
                continue
            message = f"unsupported datatype {data_type} for {kind} '{tensor.name}' for model '{config.name}'"
            hint = f"the {facts.backend} backend has {', '.join(types)}"
            if data_type in facts.types_since:
                hint = f"Triton has it from {facts.types_since[data_type]} on, and the image is {release}"
            yield config.finding(CODE, message, kind, index, "data_type", hint=hint)


def _optional(config: ParsedConfig, release: str | None) -> Iterator[Finding]:
    is_refused = release is None or release >= NO_OPTIONAL_SINCE
    for index, tensor in enumerate(config.message.input):
        if tensor.optional and config.message.max_batch_size > 0 and is_refused:
            message = (
                f"unable to load model '{config.name}', optional input '{tensor.name}' is not supported for"
                " models that support batching"
            )
            hint = "write `max_batch_size: 0`, or leave out `optional`"
            yield config.finding(CODE, message, "input", index, "optional", hint=hint)
