"""An engine's shapes are held against its model's config.pbtxt and against its ONNX model."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.onnx_graphs import FLOAT, INT32, INT64, Tensors, graph_bytes
from triton_fleet.builds.engines.model_fit import Misfit, graph_misfits, profile_misfits
from triton_fleet.repository.config.message import ParsedConfig, parsed_config
from triton_fleet.repository.contents import OnnxHeader
from triton_fleet.repository.onnx.graph import read_header
from triton_fleet.repository.stream import Stream
from triton_fleet.spec.engine import Engine

BATCHED_MODEL = """
max_batch_size: 16
input { name: "ids" data_type: TYPE_INT32 dims: [ 128 ] }
output { name: "out" data_type: TYPE_FP32 dims: [ 128, 384 ] }
"""
FIXED_SHAPE = 'input { name: "images" data_type: TYPE_FP32 dims: [ 1, 3, 640, 640 ] }'
IDS = ["1x128", "8x128", "16x128"]


def config(text: str = BATCHED_MODEL) -> ParsedConfig:
    return parsed_config(text.encode(), Path("bert/config.pbtxt"), "bert")


def graph(inputs: Tensors, outputs: Tensors | None = None) -> OnnxHeader:
    content = graph_bytes(inputs, {"out": (FLOAT, ["n", 128, 384])} if outputs is None else outputs)
    return read_header(Stream(content), len(content))


def of_profile(
    text: str = BATCHED_MODEL, header: OnnxHeader | None = None, **shapes: list[str]
) -> list[tuple[str, bool]]:
    engine = Engine.model_validate({"model": "bert", "onnx": "bert.onnx", "shapes": shapes})
    return profile_rows(profile_misfits(engine, config(text), header))


def of_graph(
    header: OnnxHeader, text: str = BATCHED_MODEL, tensorrt: str = "10.9.0.34"
) -> list[tuple[str, bool]]:
    return profile_rows(graph_misfits(config(text), header, tensorrt))


def profile_rows(result: object) -> list[tuple[str, bool]]:
    misfits = list(result)  # type: ignore[call-overload]
    assert all(isinstance(misfit, Misfit) and misfit.hint for misfit in misfits)
    return [(misfit.message, misfit.certain) for misfit in misfits]


def test_shapes_that_fit_are_not_spoken_of() -> None:
    assert of_profile(ids=IDS) == []
    assert of_profile(header=graph({"ids": (INT32, ["n", 128])}), ids=IDS) == []
    assert of_profile(FIXED_SHAPE) == []


@pytest.mark.parametrize(
    ("header", "whose"),
    [(None, "model 'bert'"), (graph({"ids": (INT32, ["n", 128])}), "the ONNX model of 'bert'")],
    ids=["config", "graph"],
)
def test_an_input_of_another_name_is_told_and_the_one_that_lacks_shapes(
    header: OnnxHeader | None, whose: str
) -> None:
    assert of_profile(header=header, idz=IDS) == [
        (f"{whose} has no input 'idz'", True),
        (f"input 'ids' of {whose} has variable dimensions [-1, 128], but no `shapes`", True),
    ]


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (
            ["128", "128", "128"],
            "input 'ids' of model 'bert' is [-1, 128]; its shapes are 128, 128, 128",
        ),
        (
            ["1x64", "8x64", "16x64"],
            "input 'ids' of model 'bert' is [-1, 128]; its shapes have 64, 64, 64 as dimension 2",
        ),
    ],
)
def test_rank_and_fixed_dimensions_are_those_of_the_model(shapes: list[str], message: str) -> None:
    assert of_profile(ids=shapes) == [(message, True)]


def test_a_dimension_that_the_config_alone_fixes_may_vary_around_it() -> None:
    shapes, header = ["1x1", "8x128", "16x256"], graph({"ids": (INT32, ["n", "length"])})
    message = "input 'ids' of model 'bert' is [-1, 128]; its shapes have 1, 128, 256 as dimension 2"
    assert of_profile(header=header, ids=shapes) == [(message, False)]
    assert of_profile(header=graph({"ids": (INT32, ["n", 128])}), ids=shapes) == [(message, True)]


def test_a_config_that_leaves_its_inputs_to_triton_is_completed_by_the_onnx_model() -> None:
    header = graph({"ids": (INT32, ["n", "length"])})
    assert of_profile('platform: "tensorrt_plan"', header, ids=["1x1", "8x128", "16x128"]) == []
    [(message, certain)] = of_profile('platform: "tensorrt_plan"', header)
    assert certain and message.startswith(
        "input 'ids' of the ONNX model of 'bert' has variable dimensions [-1, -1]"
    )


def test_a_model_that_batches_needs_shapes_even_if_nothing_names_its_inputs() -> None:
    assert of_profile("max_batch_size: 8") == [
        ("model 'bert' has max_batch_size 8 but its engine has no `shapes`", True)
    ]


def test_inputs_that_hold_a_shape_or_are_ragged_are_not_compared() -> None:
    shape = 'input { name: "size" data_type: TYPE_INT32 dims: [ 2 ] is_shape_tensor: true }'
    text = 'input { name: "flat" data_type: TYPE_FP32 dims: [ -1 ] allow_ragged_batch: true }'
    assert of_profile(BATCHED_MODEL + shape + text, ids=IDS) == []


def test_a_reshape_is_what_the_plan_has() -> None:
    text = """
    max_batch_size: 4
    input { name: "ids" data_type: TYPE_INT32 dims: [ 1 ] reshape { shape: [ ] } }
    """
    assert of_profile(text, ids=["1", "2", "4"]) == []


@pytest.mark.parametrize(
    ("preferred_text", "expected_rows"),
    [
        ("8", []),
        (
            "4",
            [("the engine is optimised for batches of 8; model 'bert' prefers 4", False)],
        ),
        ("4, 8", []),
        (
            "8, 32",
            [("model 'bert' prefers batches of 32, but its engine accepts 1 to 16", True)],
        ),
    ],
)
def test_preferred_batches_are_within_the_shapes_and_one_is_the_usual(
    preferred_text: str, expected_rows: list[tuple[str, bool]]
) -> None:
    text = f"{BATCHED_MODEL} dynamic_batching {{ preferred_batch_size: [ {preferred_text} ] }}"
    assert of_profile(text, ids=IDS) == expected_rows


def test_an_engine_that_refuses_a_single_call_is_doubted() -> None:
    assert of_profile(ids=["4x128", "8x128", "16x128"]) == [
        ("the smallest batch of 'ids' is 4: a call with one item is refused", False)
    ]


def test_names_of_config_and_onnx_model_are_one() -> None:
    header = graph({"token_ids": (INT32, ["n", 128])}, {"output": (FLOAT, ["n", 128, 384])})
    assert of_graph(header) == [
        ("model 'bert' has an input 'ids', but its ONNX model does not", True),
        ("model 'bert' has an output 'out', but its ONNX model does not", True),
    ]


@pytest.mark.parametrize(
    ("tensorrt", "expected_rows"),
    [
        ("8.6.1.6", []),
        ("10.0.1.6", [("input 'ids' of model 'bert' is TYPE_INT32; its plan will have TYPE_INT64", False)]),
    ],
)
def test_64_bit_inputs_stay_so_since_tensorrt_10(
    tensorrt: str, expected_rows: list[tuple[str, bool]]
) -> None:
    assert of_graph(graph({"ids": (INT64, ["n", 128])}), tensorrt=tensorrt) == expected_rows


@pytest.mark.parametrize(
    ("dims", "fits"),
    [(["n", 128], True), ([16, 128], True), ([8, 128], False), ([128], False), ([-1, 64], False)],
)
def test_dims_and_batches_of_the_config_fit_the_onnx_model(dims: list[object], fits: bool) -> None:
    rows = of_graph(graph({"ids": (INT32, dims)}))
    assert (rows == []) is fits
    assert all("input 'ids' of model 'bert' is [-1, 128] with its batch" in message for message, _ in rows)


def test_a_smallest_batch_is_looked_at_in_each_input() -> None:
    second = BATCHED_MODEL + 'input { name: "mask" data_type: TYPE_INT32 dims: [ 128 ] }'
    message = "the smallest batch of 'mask' is 2: a call with one item is refused"
    assert of_profile(second, ids=IDS, mask=["2x128", *IDS[1:]]) == [(message, False)]
