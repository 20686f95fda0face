"""Files that a configuration names beside the model's own.

Source: triton-inference-server/core, r26.06, src/model.cc, Init (labels); src/backend_model_instance.cc,
GenerateWarmupData; src/sequence_batch_scheduler/sequence_batch_scheduler.cc, GenerateInitialStateData.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from posixpath import normpath
from typing import Any, NamedTuple

from triton_fleet.findings import Finding
from triton_fleet.repository.config.message import ParsedConfig, Position
from triton_fleet.repository.contents import Contents
from triton_fleet.repository.model_config import SIZES

CODE = "FL436"


class FileReference(NamedTuple):
    """A file: where its name stands, the folder in the model, and the bytes that it has to have."""

    place: Position
    folder: str
    name: str
    size: int


def named_files(contents: Contents, model: str, config: ParsedConfig) -> Iterator[Finding]:
    """Label files, warm-up samples and initial states that are missing, too short or outside of the model."""
    for file in _file_references(config):
        path = normpath(f"{file.folder}/{file.name}") if file.folder else normpath(file.name)
        whole = f"{model}/{path}" if model else path
        if path.startswith(("../", "/")) or path == "..":
            message = f"the file {file.name!r} of model {config.name!r} is outside of the model's directory"
            yield config.finding(CODE, message, *file.place, hint="put it into the model's directory")
        elif not contents.is_file(whole):
            message = f"failed to open text file for read {whole}: No such file or directory"
            yield config.finding(CODE, message, *file.place, hint=f"create {whole}")
        elif (there := contents.entries[whole].size) < file.size:
            message = (
                f"{file.folder} setting expects {file.size} bytes, but the data provided from"
                f" {file.name}only has {there} bytes"
            )
            yield config.finding(CODE, message, *file.place, hint="write as many elements as `dims` require")


def _file_references(config: ParsedConfig) -> Iterator[FileReference]:
    message = config.message
    for index, output in enumerate(message.output):
        if output.label_filename:
            yield FileReference(("output", index, "label_filename"), "", output.label_filename, 0)
    for index, sample in enumerate(message.model_warmup):
        for key, each in sorted(sample.inputs.items()):
            if each.WhichOneof("input_data_type") == "input_data_file" and sample.batch_size:
                place = ("model_warmup", index, "inputs", key, "input_data_file")
                yield FileReference(place, "warmup", each.input_data_file, _bytes(config, each))
    for index, state in enumerate(message.sequence_batching.state):
        for number, each in enumerate(state.initial_state):
            if each.WhichOneof("state_data") == "data_file":
                field = ("sequence_batching", "state", index, "initial_state", number, "data_file")
                yield FileReference(field, "initial_state", each.data_file, _bytes(config, each))


def _bytes(config: ParsedConfig, tensor: Any) -> int:
    """Of the elements; 0 of strings, and of what has no certain size."""
    sizes = list(tensor.dims)
    return (
        prod(sizes) * SIZES.get(config.enum(tensor, "data_type"), 0) if all(size > 0 for size in sizes) else 0
    )
