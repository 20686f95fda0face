"""A model of the stand-in for DALI: its pipeline, compared with its configuration in the backend's words.

The backend compares the outputs that the pipeline declares; the stand-in knows what it makes, and
compares all of them.
Source: triton-inference-server/dali_backend r25.04, src/config_tools/config_tools.cc, ValidateConfig.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from fleet_emulator.stand_ins.triton.dali.graph import Graph
from fleet_emulator.stand_ins.triton.dali.operators import UnknownToStandInError
from fleet_emulator.stand_ins.triton.dali.pipeline_file import MAX_SIZE, NoPipelineError, read_pipeline

DATA_TYPES = (
    *("TYPE_UINT8", "TYPE_UINT16", "TYPE_UINT32", "TYPE_UINT64"),
    *("TYPE_INT8", "TYPE_INT16", "TYPE_INT32", "TYPE_INT64"),
    *("TYPE_FP16", "TYPE_FP32", "TYPE_FP64", "TYPE_BOOL"),
)
"""By the number of DALIDataType."""


def mismatches(config: Mapping[str, Any], graph: Graph) -> Iterator[str]:
    """What does not fit; of the inputs, those that the pipeline declares.

    Args:
        config: The ModelConfig as Triton gives it to Python models.
        graph: The pipeline.
    """
    unbatched = int(config["max_batch_size"] == 0)
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
        has, dimensions = inputs[name]["data_type"], len(inputs[name]["dims"])
        if 0 <= declared.data_type < len(DATA_TYPES):
            has = DATA_TYPES[declared.data_type]
        if declared.dimensions >= 0:
            dimensions = declared.dimensions + unbatched
        yield from _differences(inputs[name], has, dimensions)
    if len(config["output"]) != len(graph.outputs):
        yield (
            "The number of outputs specified in the DALI pipeline and the configuration file do not match."
            f" Model config outputs: {len(config['output'])} Pipeline outputs: {len(graph.outputs)}"
        )
        return
    for output, value, made in zip(config["output"], graph.outputs, graph.made, strict=True):
        if made.data_type is not None and made.dimensions is not None:
            yield from _differences(output, made.data_type, made.dimensions + unbatched)
        elif value in inputs:
            yield from _differences(output, inputs[value]["data_type"], len(inputs[value]["dims"]))


def _differences(tensor: Mapping[str, Any], has: str, dimensions: int) -> Iterator[str]:
    name, written = tensor["name"], tensor["data_type"]
    if written != has:
        yield (
            f'Mismatch of data_type config for "{name}". Data type defined in config: {written}'
            f" Data type defined in pipeline: {has}"
        )
    if len(tensor["dims"]) != dimensions:
        yield (
            f'Mismatch in number of dimensions for "{name}" Number of dimensions defined in config:'
            f" {len(tensor['dims'])} Number of dimensions defined in pipeline: {dimensions}"
        )


PIPELINE = "model.dali"


class NotServedError(Exception):
    """Why the model cannot be served on this machine, with its name."""


def load(version: Path, config: Mapping[str, Any]) -> Graph:
    """The pipeline in a version directory, which the configuration fits.

    Args:
        version: The directory.
        config: The ModelConfig as Triton gives it to Python models.

    Raises:
        NotServedError: there is none, it does more than the stand-in knows, or the configuration differs.
    """
    file = config.get("default_model_filename") or PIPELINE
    model = f"model '{config['name']}'"
    try:
        with (version / file).open("rb") as opened:
            graph = Graph(read_pipeline(opened.read(MAX_SIZE + 1)))
    except (OSError, NoPipelineError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise NotServedError(
            f"{model}, {file}: {reason}; the stand-in for DALI on this machine takes what DALI's"
            " Pipeline.serialize has written, and no dali.py"
        ) from None
    except UnknownToStandInError as error:
        raise NotServedError(f"{model}, {file}: the stand-in for DALI does not know {error}") from None
    for problem in mismatches(config, graph):
        raise NotServedError(f"{model}, {problem}")
    return graph
