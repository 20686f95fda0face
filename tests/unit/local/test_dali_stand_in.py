"""Inputs of the stand-in for DALI, and those that it refuses: files, graphs, images, configurations."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from fleet_emulator.stand_ins.triton.dali.decoding import MAX_PIXELS, ImageError, crop, decode_image
from fleet_emulator.stand_ins.triton.dali.graph import Graph
from fleet_emulator.stand_ins.triton.dali.model import NotServedError, load, mismatches
from fleet_emulator.stand_ins.triton.dali.operators import UnknownToStandInError
from fleet_emulator.stand_ins.triton.dali.pipeline_file import (
    MAX_SIZE,
    NoPipelineError,
    Operator,
    SerializedPipeline,
    Value,
    read_pipeline,
)
from tests.support.fleet_folder import ROOT
from tests.support.real_dali import encode_image, scene
from triton_fleet.local.triton.model_backend import stand_ins
from triton_fleet.local.triton.staging import stage

SHIPPED_PIPELINE = (ROOT / "examples/gpu_ensembles/models/image/dali/1/model.dali").read_bytes()
SOURCE = Operator(name="ExternalSource", inputs=(), outputs=("IN",), arguments={}, argument_inputs=())
DECODER = replace(SOURCE, name="decoders__Image", inputs=("IN",), outputs=("IMAGE",))
PIPELINE = SerializedPipeline(operators=(SOURCE, DECODER), outputs=("IMAGE",))


FAST: dict[str, Value] = {"fast": True}


def test_the_shipped_pipeline_is_known_and_turns_bytes_into_an_image_for_inception() -> None:
    graph = Graph(read_pipeline(SHIPPED_PIPELINE))
    (pixels,) = graph.run({"DALI_INPUT_0": np.frombuffer(encode_image(scene(30, 40), "JPEG"), np.uint8)})
    assert (pixels.shape, pixels.dtype) == ((299, 299, 3), np.float32)


DEEP = b""
for _ in range(200):  # arguments within arguments, deeper than protobuf reads
    DEEP = b"\x3a" + bytes([len(DEEP) & 127 | 128, len(DEEP) >> 7]) + DEEP
DEEP = b"\x22" + bytes([len(DEEP) & 127 | 128, len(DEEP) >> 7]) + DEEP
DEEP = b"\x2a" + bytes([len(DEEP) & 127 | 128, len(DEEP) >> 7]) + DEEP


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "has no operators or no outputs"),
        (b"import nvidia.dali as dali\n", "it is not a serialised pipeline"),
        (SHIPPED_PIPELINE[:-5], "it is not a serialised pipeline"),
        (DEEP, "it is not a serialised pipeline"),
        (SHIPPED_PIPELINE + bytes(MAX_SIZE), "it has more than the 1048576 bytes of a pipeline"),
    ],
    ids=["empty", "python", "cut-off", "deep", "large"],
)
def test_a_file_that_holds_no_pipeline_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(NoPipelineError, match=message):
        read_pipeline(content)


@pytest.mark.parametrize(
    ("pipeline", "message"),
    [
        (replace(PIPELINE, outputs=("OTHER",)), "value 'OTHER', which no operator makes"),
        (
            replace(PIPELINE, operators=(DECODER, SOURCE)),
            "value 'IN', which no operator makes before it is needed",
        ),
        (replace(PIPELINE, operators=(SOURCE, replace(DECODER, inputs=()))), "operator decoders__Image"),
        (
            replace(PIPELINE, operators=(SOURCE, replace(DECODER, arguments=FAST))),
            "argument 'fast' with the value True of operator decoders__Image",
        ),
    ],
    ids=["no-output", "order", "no-input", "argument"],
)
def test_a_graph_that_cannot_run_here_is_refused_when_it_is_loaded(
    pipeline: SerializedPipeline, message: str
) -> None:
    with pytest.raises(UnknownToStandInError, match=message):
        Graph(pipeline)


def test_arguments_that_only_tell_where_and_how_fast_are_passed_over() -> None:
    hints: dict[str, Value] = {
        "device": "mixed",
        "hw_decoder_load": 0.65,
        "_module": "nvidia.dali.fn.decoders",
    }
    Graph(replace(PIPELINE, operators=(SOURCE, replace(DECODER, arguments=hints))))


def large() -> bytes:
    """A bitmap's header that speaks of more pixels than the stand-in takes."""
    file = bytearray(encode_image(scene(3, 4), "BMP"))
    file[18:26] = np.array([MAX_PIXELS // 2048, 2049], "<i4").tobytes()
    return bytes(file)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no image at all", "Unrecognized image format. Supported formats are: JPEG, PNG"),
        (b"", "Unrecognized image format"),
        (encode_image(scene(30, 40), "JPEG")[:-99], "the image cannot be decoded: image file is truncated"),
        (encode_image(scene(30, 40), "GIF"), "Unrecognized image format"),
        (
            encode_image(Image.fromarray(np.zeros((2, 2), np.uint16)), "PNG"),
            "of mode I;16 and 16 bits a channel is beyond the stand-in",
        ),
        (large(), "32768 x 2049 pixels of mode RGB and 8 bits a channel is beyond"),
    ],
    ids=["text", "empty", "cut-off", "gif", "16-bit", "large"],
)
def test_what_is_no_image_or_beyond_the_stand_in_is_refused(content: bytes, message: str) -> None:
    with pytest.raises(ImageError, match=message):
        decode_image(np.frombuffer(content, np.uint8))


def test_a_sample_is_one_row_of_bytes() -> None:
    with pytest.raises(ImageError, match="Input must be 1D encoded jpeg string"):
        decode_image(np.zeros((3, 4), np.uint8))
    with pytest.raises(ImageError, match="Input must be stored as uint8 data"):
        decode_image(np.zeros(30, np.float32))


def test_a_photograph_is_not_turned_as_its_exif_asks() -> None:
    exif = Image.Exif()
    exif[0x112] = 6
    file = io.BytesIO()
    scene(20, 30).save(file, "JPEG", exif=exif)
    assert decode_image(np.frombuffer(file.getvalue(), np.uint8)).shape == (20, 30, 3)


def test_more_than_there_is_cannot_be_cut_out() -> None:
    with pytest.raises(ImageError, match="Slice can't be placed out of bounds .* input_shape={4 x 5 x 3}"):
        crop(np.zeros((4, 5, 3), np.uint8), 4, 6)


def config(**changed_values: Any) -> dict[str, Any]:
    tensor = {"name": "IN", "data_type": "TYPE_UINT8", "dims": ["-1"]}
    image = {"name": "OUT", "data_type": "TYPE_UINT8", "dims": ["-1", "-1", "3"]}
    return {"max_batch_size": 8, "input": [tensor], "output": [image], **changed_values}


DECLARED_PIPELINE = replace(PIPELINE, operators=(replace(SOURCE, arguments={"dtype": 0, "ndim": 1}), DECODER))


@pytest.mark.parametrize(
    ("changed_values", "messages"),
    [
        ({"input": []}, ['Missing config for "IN" input.']),
        (
            {"input": [*config()["input"], {"name": "X"}]},
            ["Configuration file contains config for X, but such input is not present in the pipeline."],
        ),
        ({"input": [{"name": "IN", "data_type": "TYPE_FP32", "dims": ["-1"]}]}, ["Mismatch of data_type"]),
        ({"max_batch_size": 0}, ["Mismatch in number of dimensions"] * 2),
        ({"output": []}, ["The number of outputs specified"]),
        ({}, []),
    ],
    ids=["missing", "unknown", "type", "dimensions", "outputs", "fitting"],
)
def test_a_configuration_that_does_not_fit_the_pipeline_is_refused_in_the_backends_words(
    changed_values: dict[str, Any], messages: list[str]
) -> None:
    lines = list(mismatches(config(**changed_values), Graph(DECLARED_PIPELINE)))
    assert len(lines) == len(messages)
    assert all(line.startswith(begin) for line, begin in zip(lines, messages, strict=True))


def test_of_inputs_that_the_pipeline_does_not_declare_names_alone_are_compared() -> None:
    tensor = {"name": "IN", "data_type": "TYPE_FP32", "dims": ["2", "2"]}
    assert list(mismatches(config(input=[tensor]), Graph(PIPELINE))) == []


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "model 'dali', model.dali: No such file or directory; .* and no dali.py"),
        (b"import nvidia.dali", "model 'dali', model.dali: it is not a serialised pipeline.* and no dali.py"),
        (SHIPPED_PIPELINE, "model 'dali', Configuration file contains config for IN"),
    ],
    ids=["missing", "python", "other-names"],
)
def test_a_model_that_is_not_served_is_told_by_its_name(
    tmp_path: Path, content: bytes | None, message: str
) -> None:
    if content is not None:
        (tmp_path / "model.dali").write_bytes(content)
    with pytest.raises(NotServedError, match=message):
        load(tmp_path, config(name="dali"))


def test_a_model_of_dali_is_staged_as_one_instance_and_named_as_served_by_a_stand_in(tmp_path: Path) -> None:
    model = tmp_path / "repository/decode"
    (model / "1").mkdir(parents=True)
    (model / "config.pbtxt").write_text('backend: "dali"')
    (rewrite,) = stage(tmp_path / "repository", tmp_path / "staged")
    assert str(rewrite).endswith("no instance_group -> instance_group { count: 1 kind: KIND_CPU }")
    text = "decode/config.pbtxt: a stand-in for DALI runs its pipeline with numpy and Pillow, on the CPU"
    assert list(stand_ins(tmp_path / "staged")) == [text]
