"""Checks by the stand-in for PyTorch's backend of a configuration, before torch sees anything of it."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from fleet_emulator.stand_ins.triton.torchscript.tensors import (
    Argument,
    answers,
    check_types,
    input_places,
    output_places,
    read_settings,
)

SELF = Argument("self", "ClassType", "__torch__.Net")
MASK, IDS = (Argument(name, "TensorType", "Tensor") for name in ("mask", "ids"))
DICT = Argument("x", "DictType", "Dict[str, Tensor]")
COUNT = Argument("count", "IntType", "int")


def test_without_parameters_torch_is_as_the_backend_sets_it() -> None:
    settings = read_settings("net", {})
    assert (settings.inference_mode, settings.is_optimized) == (True, True)
    own = (settings.executor, settings.has_profiling, settings.fuser, settings.intra_op, settings.inter_op)
    assert own == (None,) * 5
    assert settings.without_effect == ()


def test_parameters_are_read_as_the_backend_reads_them() -> None:
    inputs = {
        "INFERENCE_MODE": "0",
        "DISABLE_OPTIMIZED_EXECUTION": "True",
        "ENABLE_JIT_EXECUTOR": "off",
        "ENABLE_JIT_PROFILING": "ON",
        "ENABLE_TENSOR_FUSER": "false",
        "INTRA_OP_THREAD_COUNT": "2 of them",
        "INTER_OP_THREAD_COUNT": "0",
    }
    settings = read_settings("net", inputs)
    assert (settings.inference_mode, settings.is_optimized) == (False, False)
    assert (settings.executor, settings.has_profiling, settings.fuser) == (False, True, False)
    assert (settings.intra_op, settings.inter_op) == (2, None)


def test_what_means_nothing_on_this_machine_is_said_and_what_triton_no_longer_reads_is_not() -> None:
    inputs = dict.fromkeys(("ENABLE_CACHE_CLEANING", "DISABLE_CUDNN", "ENABLE_WEIGHT_SHARING"), "false")
    settings = read_settings("net", {**inputs, "ENABLE_NVFUSER": "whatever"})
    assert settings.without_effect == (
        "DISABLE_CUDNN (cuDNN is of GPUs)",
        "ENABLE_CACHE_CLEANING (the cache is of a GPU's memory)",
        "ENABLE_WEIGHT_SHARING (each instance is a process of its own here, with weights of its own)",
    )


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("INFERENCE_MODE", "yes", "failed to convert 'yes' to boolean"),
        ("INTRA_OP_THREAD_COUNT", "many", "failed to convert 'many' to integral number"),
        ("INTRA_OP_THREAD_COUNT", "100000", "the stand-in takes 256 threads at most, not 100000"),
        ("INTER_OP_THREAD_COUNT", "257", "the stand-in takes 256 threads at most, not 257"),
    ],
)
def test_a_parameter_that_the_backend_cannot_read_or_this_machine_not_bear_is_refused(
    name: str, value: str, message: str
) -> None:
    with pytest.raises(ValueError, match=f"^model 'net', parameter {name}: {message}$"):
        read_settings("net", {name: value})


def test_as_many_threads_as_the_largest_instance_has_cores_are_taken() -> None:
    settings = read_settings("net", {"INTRA_OP_THREAD_COUNT": "256", "INTER_OP_THREAD_COUNT": "192"})
    assert (settings.intra_op, settings.inter_op) == (256, 192)


@pytest.mark.parametrize(
    ("names", "places"),
    [
        (["ids", "mask"], {"ids": 1, "mask": 0}),  # the names of the arguments
        (["ids__1", "other__0"], {"ids__1": 1, "other__0": 0}),  # numbers, where not all are such names
        (["ids", "INPUT__0"], {"ids": 0, "INPUT__0": 1}),  # else the order in the configuration
    ],
)
def test_inputs_find_their_argument_by_name_then_by_number_then_by_order(
    names: list[str], places: dict[str, int]
) -> None:
    assert input_places("net", names, [SELF, MASK, IDS]) == places


def test_a_model_that_takes_a_dict_gets_all_inputs_by_their_names() -> None:
    assert input_places("net", ["any", "names"], [SELF, DICT]) is None


@pytest.mark.parametrize(
    ("names", "forward", "message"),
    [
        ([], [SELF, IDS], "must contain at least one input"),
        (["ids"], [SELF, MASK, IDS], "configuration expects 1 inputs, model provides 2"),
        (["ids", "count"], [SELF, IDS, COUNT], "An input of type 'int' was detected in the model"),
        (["ids", "x"], [SELF, IDS, DICT], r"An input of type 'Dict\[str, Tensor\]' was detected"),
        (["INPUT__1"], [SELF, IDS], "inputs 'INPUT__1' are not numbered from 0 to 0"),
        (["a__0", "b__0"], [SELF, MASK, IDS], "inputs 'a__0', 'b__0' are not numbered from 0 to 1"),
    ],
)
def test_a_model_that_cannot_be_called_with_its_inputs_is_refused(
    names: list[str], forward: list[Argument], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        input_places("net", names, forward)


def test_outputs_are_numbered_or_in_order() -> None:
    assert output_places(["b__1", "a__0"]) == {"b__1": 1, "a__0": 0}
    assert output_places(["b__1", "a"]) == {"b__1": 0, "a": 1}
    with pytest.raises(ValueError, match="must contain at least one output"):
        output_places([])


@pytest.mark.parametrize("kind", ["input", "output"])
@pytest.mark.parametrize("type_", ["TYPE_UINT16", "TYPE_UINT32", "TYPE_UINT64", "TYPE_BF16"])
def test_a_data_type_that_the_backend_does_not_have_is_refused_in_its_words(kind: str, type_: str) -> None:
    tensors = [{"name": "a", "data_type": "TYPE_FP32"}, {"name": "b", "data_type": type_}]
    text = f"^unsupported datatype {type_} for {kind} 'b' for model 'net'$"
    with pytest.raises(ValueError, match=text):
        check_types("net", kind, tensors)


def test_the_data_types_of_the_backend_are_taken() -> None:
    bits = [f"INT{bits}" for bits in (8, 16, 32, 64)] + [f"FP{bits}" for bits in (16, 32, 64)]
    names = ["BOOL", "UINT8", "STRING", *bits]
    check_types("net", "input", [{"name": name, "data_type": f"TYPE_{name}"} for name in names])


class Tensor:
    """Stands for torch's class, which is only told from others."""


class Pair(NamedTuple):
    rest: object
    right: object


TENSOR = Tensor()


@pytest.mark.parametrize(
    ("answer", "taken_value"),
    [
        (TENSOR, (TENSOR,)),
        (["a", "b"], (["a", "b"],)),
        ((TENSOR, ["a"]), (TENSOR, ["a"])),
        (Pair(TENSOR, TENSOR), (TENSOR, TENSOR)),
        ((), ()),
    ],
)
def test_a_model_answers_with_a_tensor_or_texts_or_a_tuple_of_such(
    answer: object, taken_value: tuple[object, ...]
) -> None:
    assert answers(answer, Tensor) == taken_value


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((TENSOR, None), "output at index 1: Expected Tensor but got NoneType"),
        (([TENSOR], TENSOR), "output at index 0 must be of type Tensor or List[str], received List[Tensor]"),
        ([None], "output must be of type Tensor or List[str], received List[NoneType]"),
        ([1], "output must be of type Tensor or List[str], received List[int]"),
        (
            {"a": TENSOR},
            "output must be of type Tensor, List[str] or Tuple containing one of these two types",
        ),
        (1.5, "It should not be a List / Dictionary of Tensors or a Scalar"),
    ],
)
def test_any_other_part_of_an_answer_is_refused_whether_it_is_asked_for_or_not(
    answer: object, message: str
) -> None:
    with pytest.raises(ValueError) as caught:
        answers(answer, Tensor)
    assert message in str(caught.value)
