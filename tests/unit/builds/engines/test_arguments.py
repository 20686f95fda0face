"""The command lines of trtexec in published guides are ours, in the spelling of each release."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet_emulator.stand_ins.engines.trtexec import options
from triton_fleet.builds.engines.endpoint_engines import expected_tensorrt, trtexec_arguments
from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.engines import Option
from triton_fleet.catalog.images import release
from triton_fleet.spec.engine import Engine

# BERT with TensorRT on a multi-model endpoint (23.02, TensorRT 8.5.3), with the dashes and words that its text lost.
BERT = """
    trtexec --onnx=model.onnx --saveEngine=model_bs16.plan --minShapes=token_ids:1x128,attn_mask:1x128
    --optShapes=token_ids:16x128,attn_mask:16x128 --maxShapes=token_ids:128x128,attn_mask:128x128 --fp16
    --verbose --workspace=14000
"""
# MiniLM in an ensemble on a multi-model endpoint, generate_model_trt.sh (23.03, TensorRT 8.5.3): FP32.
MINILM = """
    trtexec --onnx=model.onnx --saveEngine=model.plan --minShapes=token_ids:1x128,attn_mask:1x128
    --optShapes=token_ids:16x128,attn_mask:16x128 --maxShapes=token_ids:32x128,attn_mask:32x128 --verbose
    --workspace=14000
"""
SHAPES = {
    name: {text: [f"{size}x128" for size in sizes] for text in ("token_ids", "attn_mask")}
    for name, sizes in {"bert": (1, 16, 128), "minilm": (1, 16, 32)}.items()
}
OURS: dict[str, dict[str, Any]] = {
    BERT: {"precision": "fp16", "workspace": "14000MiB", "shapes": SHAPES["bert"]},
    MINILM: {"workspace": "14000MiB", "shapes": SHAPES["minilm"]},
}
NO_ARGUMENT = {
    "trtexec",
    "--verbose",
    "--onnx=model.onnx",
    "--saveEngine=model.plan",
    "--saveEngine=model_bs16.plan",
}
"""Of the sources' commands: what names files, which the build adds, and what changes no plan."""
# By TensorRT: how the sources' options are spelled, None where they are gone; and that nothing is measured.
SPELLINGS: dict[str, tuple[dict[str, str | None], str]] = {
    "8.2.5.1": ({}, "--buildOnly"),
    "8.5.3.1": ({"--workspace=14000": "--memPoolSize=workspace:14000"}, "--buildOnly"),
    "8.6.1.6": ({"--workspace=14000": "--memPoolSize=workspace:14000"}, "--skipInference"),
    "10.9.0.34": ({"--workspace=14000": "--memPoolSize=workspace:14000"}, "--skipInference"),
    "11.1.0.106": ({"--workspace=14000": "--memPoolSize=workspace:14000", "--fp16": None}, "--skipInference"),
}


def engine(**keys: Any) -> Engine:
    return Engine.model_validate({"model": "m", "onnx": "model.onnx", **keys})


def texts(engine: Engine, tensorrt: str) -> list[str]:
    return [argument.text for argument in trtexec_arguments(engine, tensorrt)]


def meant_arguments(arguments: list[str]) -> set[tuple[str, frozenset[str]]]:
    """Options with their values, which have no order among themselves."""
    split = (argument.partition("=") for argument in arguments)
    return {(option, frozenset(values.split(","))) for option, _, values in split}


@pytest.mark.parametrize("tensorrt", SPELLINGS)
@pytest.mark.parametrize("source", [BERT, MINILM], ids=["BERT", "MiniLM"])
def test_a_sources_command_line_is_ours_in_the_spelling_of_the_release(source: str, tensorrt: str) -> None:
    values, text = SPELLINGS[tensorrt]
    theirs = [values.get(word, word) for word in source.split() if word not in NO_ARGUMENT]
    expected_texts = [*(text for text in theirs if text is not None), text]
    assert meant_arguments(texts(engine(**OURS[source]), tensorrt)) == meant_arguments(expected_texts)


def test_resnets_profile_is_that_of_its_configuration_as_its_guide_has_no_command() -> None:
    # max_batch_size 128, preferred_batch_size 128, input [3, 224, 224]: the command itself is stripped there.
    shapes = {"input": ["1x3x224x224", "128x3x224x224", "128x3x224x224"]}
    assert texts(engine(shapes=shapes), "8.2.5.1") == [
        "--minShapes=input:1x3x224x224",
        "--optShapes=input:128x3x224x224",
        "--maxShapes=input:128x3x224x224",
        "--buildOnly",
    ]


def test_a_model_of_one_shape_such_as_yolov5s_needs_no_profile() -> None:
    # Its configuration says [1, 3, 640, 640] and no batch; how it was built, its guide does not say.
    assert texts(engine(), "10.9.0.34") == ["--skipInference"]


@pytest.mark.parametrize(
    ("keys", "tensorrt", "argument"),
    [
        ({"precision": "bf16"}, "10.0.1.6", "--bf16"),
        ({"precision": "int8"}, "8.6.1.6", "--int8"),
        ({"precision": "int4"}, "10.1.0.27", "--int4"),
        ({"precision": "fp8"}, "8.6.1.6", "--fp8"),
        ({"compatibility": "ampere+"}, "8.6.1.6", "--hardwareCompatibilityLevel=ampere+"),
        (
            {"compatibility": "same-compute-capability"},
            "10.9.0.34",
            "--hardwareCompatibilityLevel=sameComputeCapability",
        ),
        ({"workspace": "4GiB"}, "10.9.0.34", "--memPoolSize=workspace:4096"),
    ],
)
def test_each_key_is_one_argument(keys: dict[str, str], tensorrt: str, argument: str) -> None:
    assert texts(engine(**keys), tensorrt) == [argument, "--skipInference"]


@pytest.mark.parametrize(
    ("keys", "tensorrt"),
    [
        ({"precision": "bf16"}, "8.6.1.6"),
        ({"precision": "int4"}, "10.0.1.6"),
        ({"precision": "fp16"}, "11.0.0.1"),
        ({"compatibility": "same-compute-capability"}, "10.8.0.43"),
    ],
)
def test_what_a_version_does_not_have_is_left_to_the_rule_that_refuses_it(
    keys: dict[str, str], tensorrt: str
) -> None:
    assert texts(engine(**keys), tensorrt) == ["--skipInference"]


def test_an_option_is_in_the_versions_whose_trtexec_has_it() -> None:
    catalog = data_file("tensorrt.yaml")
    known_precisions = [*catalog["precisions"].values(), *catalog["compatibilities"].values()]
    known_precisions += [item for spellings in catalog["spellings"].values() for item in spellings]
    for about in (Option(**precision) for precision in known_precisions if precision.get("flag")):
        for version in (
            "8.6.1.6",
            "10.0.1.6",
            "10.1.0.27",
            "10.9.0.34",
            "10.16.0.1",
            "11.0.0.1",
            "11.1.0.106",
        ):
            # Values came later than their option; a spelling may give way before its option is gone.
            if about.known_to(version):
                assert about.flag.partition("=")[0] in options(version), (about, version)
    for version in ("8.6.1.6", "10.0.1.6", "10.1.0.27", "11.0.0.1"):
        precisions = {f"--{precision}" for precision in catalog["precisions"]}
        ours = {
            precision.get("flag")
            for precision in catalog["precisions"].values()
            if precision.get("flag") and Option(**precision).known_to(version)
        }
        assert ours == precisions & options(version)


def test_a_release_whose_tensorrt_nobody_says_is_taken_for_the_oldest_that_it_may_have() -> None:
    assert expected_tensorrt(release("26.05")) == release("26.05").min_tensorrt
    assert expected_tensorrt(release("24.09")) == "10.4.0.26"


@given(st.permutations(["a", "b", "c:0", "d"]))
def test_the_order_of_the_inputs_changes_nothing(names: list[str]) -> None:
    shapes = {name: ["1x8", "2x8", "4x8"] for name in names}
    in_order = {name: shapes[name] for name in sorted(shapes)}
    assert texts(engine(shapes=shapes), "10.9.0.34") == texts(engine(shapes=in_order), "10.9.0.34")


@pytest.mark.parametrize("name", ["a,b", "it's", "in*", "a b", ""])
def test_an_input_that_trtexec_cannot_be_told_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"shapes"):
        engine(shapes={name: ["1", "1", "1"]})


@pytest.mark.parametrize("size", ["0MiB", "1500KiB", "1MB"])
def test_a_workspace_is_in_whole_mebibytes(size: str) -> None:
    with pytest.raises(ValueError, match="MiB"):
        engine(workspace=size)
