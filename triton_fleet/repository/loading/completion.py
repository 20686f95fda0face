"""A configuration as the ONNX Runtime backend completes it from its graph.

Source: triton-inference-server/onnxruntime_backend, r26.06, src/onnxruntime.cc, AutoCompleteIO and
AutoCompleteMaxBatch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from triton_fleet.repository.config.message import ParsedConfig
from triton_fleet.repository.contents import Contents, OnnxHeader, OnnxTensor
from triton_fleet.repository.onnx.match import can_batch

DEFAULT_BATCH = 4
"""Of `--backend-config=onnxruntime,default-max-batch-size`."""


def completed_by_graph(
    config: ParsedConfig, contents: Contents, folder: str, backend: str, versions: Sequence[str]
) -> ParsedConfig:
    """The configuration with the graph's inputs, outputs and batch size, where it has none of them."""
    if backend != "onnxruntime" or not versions:
        return config
    if config.message.input and config.message.output:
        return config
    header = header_of(config, contents, folder, versions[0])
    if header is None or header.problem:
        return config
    message = type(config.message)()
    message.CopyFrom(config.message)
    if (not message.input or not message.output) and message.max_batch_size == 0 and can_batch(header):
        message.max_batch_size = DEFAULT_BATCH
    batching = message.max_batch_size > 0
    if not message.input and not message.batch_input:
        _fill(message.input, header.inputs, batching)
    if not message.output:
        _fill(message.output, header.outputs, batching)
    return replace(config, message=message)


def header_of(config: ParsedConfig, contents: Contents, folder: str, version: str) -> OnnxHeader | None:
    """The header of the file that a version is loaded from, if it was read."""
    return contents.headers.get(graph_path(config, contents, folder, version))


def graph_path(config: ParsedConfig, contents: Contents, folder: str, version: str) -> str:
    """The file that a version is loaded from: the one that is named, or one in a folder of that name."""
    path = contents.path(folder, version, config.message.default_model_filename or "model.onnx")
    return path if path in contents.headers else f"{path}/model.onnx"


def _fill(fields: object, tensors: Sequence[OnnxTensor], batching: bool) -> None:
    for tensor in tensors:
        dims = tensor.shape[1:] if batching and tensor.shape else tensor.shape
        type_field = {"data_type": tensor.data_type} if tensor.data_type else {}
        shape = {} if dims is None else {"dims": dims or (1,)}
        fields.add(name=tensor.name, **type_field, **shape)  # type: ignore[attr-defined]
