"""Whether a model's configuration fits its DALI pipeline, in the words of Triton's DALI backend.

Source: triton-inference-server/dali_backend r25.04, src/config_tools/config_tools.cc, ValidateConfig.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fleet.local.dali.graph import Graph

DATA_TYPES = (
    *("TYPE_UINT8", "TYPE_UINT16", "TYPE_UINT32", "TYPE_UINT64"),
    *("TYPE_INT8", "TYPE_INT16", "TYPE_INT32", "TYPE_INT64"),
    *("TYPE_FP16", "TYPE_FP32", "TYPE_FP64", "TYPE_BOOL"),
)
"""By the number of DALIDataType."""


def mismatches(config: Mapping[str, Any], graph: Graph) -> Iterator[str]:
    """What does not fit; of the inputs as far as the pipeline declares them.

    Args:
        config: The ModelConfig as Triton gives it to Python models.
        graph: The pipeline.
    """
    inputs = {each["name"]: each for each in config["input"]}
    for name in inputs:
        if name not in graph.inputs:
            yield (
                f"Configuration file contains config for {name}, but such input is not present in the"
                " pipeline."
            )
    for name, declared in graph.inputs.items():
        if name not in inputs:
            yield f'Missing config for "{name}" input.'
            continue
        written, dimensions = inputs[name]["data_type"], len(inputs[name]["dims"])
        has = DATA_TYPES[declared.data_type] if 0 <= declared.data_type < len(DATA_TYPES) else written
        if written != has:
            yield (
                f'Mismatch of data_type config for "{name}". Data type defined in config: {written}'
                f" Data type defined in pipeline: {has}"
            )
        expected = declared.dimensions + (config["max_batch_size"] == 0)
        if declared.dimensions >= 0 and dimensions != expected:
            yield (
                f'Mismatch in number of dimensions for "{name}" Number of dimensions defined in config:'
                f" {dimensions} Number of dimensions defined in pipeline: {expected}"
            )
    if len(config["output"]) != len(graph.outputs):
        yield (
            "The number of outputs specified in the DALI pipeline and the configuration file do not match."
            f" Model config outputs: {len(config['output'])} Pipeline outputs: {len(graph.outputs)}"
        )
