"""Answers of a DALI pipeline by the stand-in: the types that its configuration promises, all samples in one array."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from fleet_emulator.stand_ins.triton.dali.decoding import ImageError
from fleet_emulator.stand_ins.triton.dali.graph import Graph
from fleet_emulator.stand_ins.triton.dali.model import mismatches
from fleet_emulator.stand_ins.triton.dali.pipeline_file import Operator, SerializedPipeline
from tests.support.real_dali import encode_image, scene

SOURCE = Operator(name="ExternalSource", inputs=(), outputs=("IN",), arguments={}, argument_inputs=())
DECODER = replace(SOURCE, name="decoders__Image", inputs=("IN",), outputs=("IMAGE",))
NORMALISE = replace(SOURCE, name="CropMirrorNormalize", inputs=("IMAGE",), outputs=("NORMAL",))
HALF = replace(NORMALISE, arguments={"dtype": 8}, outputs=("HALF",))
OUTPUT_TYPES = {"IN": "TYPE_UINT8", "IMAGE": "TYPE_UINT8", "NORMAL": "TYPE_FP32", "HALF": "TYPE_FP16"}


def graph(*outputs: str) -> Graph:
    return Graph(SerializedPipeline(operators=(SOURCE, DECODER, NORMALISE, HALF), outputs=outputs))


def output_messages(value: str, data_type: str, dims: list[str], max_batch_size: int = 8) -> list[str]:
    config: dict[str, Any] = {
        "max_batch_size": max_batch_size,
        "input": [{"name": "IN", "data_type": "TYPE_UINT8", "dims": ["-1"] * (1 + (max_batch_size == 0))}],
        "output": [{"name": "OUT", "data_type": data_type, "dims": dims}],
    }
    return list(mismatches(config, graph(value)))


@pytest.mark.parametrize("value", OUTPUT_TYPES)
def test_an_output_of_another_type_than_the_pipeline_makes_is_refused(value: str) -> None:
    dims = ["-1"] * (1 if value == "IN" else 3)
    assert output_messages(value, OUTPUT_TYPES[value], dims) == []
    (line,) = output_messages(value, "TYPE_INT64", dims)
    assert line.startswith('Mismatch of data_type config for "OUT"')
    assert line.endswith(f"in config: TYPE_INT64 Data type defined in pipeline: {OUTPUT_TYPES[value]}")


@pytest.mark.parametrize("value", OUTPUT_TYPES)
def test_an_output_of_other_dimensions_than_the_pipeline_makes_is_refused(value: str) -> None:
    has = 1 if value == "IN" else 3
    assert output_messages(value, OUTPUT_TYPES[value], ["-1"] * (has + 1), max_batch_size=0) == []
    (line,) = output_messages(value, OUTPUT_TYPES[value], ["-1"] * (has + 1))
    assert line.startswith('Mismatch in number of dimensions for "OUT"')
    assert line.endswith(f"in config: {has + 1} Number of dimensions defined in pipeline: {has}")


@pytest.mark.parametrize("value", OUTPUT_TYPES)
def test_what_is_answered_has_the_type_that_is_promised(value: str) -> None:
    file = np.frombuffer(encode_image(scene(3, 4), "PNG"), np.uint8)
    (array,) = graph(value).batch({"IN": np.stack([file, file])})
    assert (len(array), array.dtype.name) == (
        2,
        {"TYPE_UINT8": "uint8", "TYPE_FP32": "float32", "TYPE_FP16": "float16"}[OUTPUT_TYPES[value]],
    )


def test_images_that_stay_of_different_sizes_are_refused_together() -> None:
    files = [encode_image(scene(height, 4), "BMP").ljust(199, b"\0") for height in (3, 4)]
    batch = np.stack([np.frombuffer(file, np.uint8) for file in files])
    with pytest.raises(ImageError, match=r"samples of output 'IMAGE' differ in shape: \[\(3, 4, 3\), \(4, 4"):
        graph("IMAGE").batch({"IN": batch})
