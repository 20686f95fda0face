"""Several requests at once in stand-ins for backends: each gets its own answer, or its own error."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pytest

from tests.support.python_backend import NAME, Array, InferenceRequest, python_backend

Compute = Callable[[dict[str, Array]], dict[str, Array]]
Instance = Callable[..., Any]
MODULE = "fleet_emulator.stand_ins.triton.stand_in_instance"


@pytest.fixture(scope="module")
def instance() -> Iterator[Instance]:
    """Makes an instance of a model with the output `y` of two numbers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, NAME, python_backend())
        base: Any = import_module(MODULE).StandInInstance
        del sys.modules[MODULE]

        def make(compute: Compute, *, batch: int = 8, **output: Any) -> Any:
            methods = {"ERROR_PREFIX": "stand-in", "compute": lambda _, feed: compute(feed)}
            model_instance = type("Instance", (base,), methods)()
            model_instance.take({"max_batch_size": batch, "output": [{"name": "y", "dims": [2], **output}]})
            return model_instance

        yield make


def instance_answers(instance: Any, *inputs: Any) -> list[Any]:
    """The answer to each input `x`: its numbers, or the words of its error."""
    requests = [InferenceRequest({"x": np.array(x)}, ["y"]) for x in inputs]
    return [
        str(item.error) if item.error else item.tensors[0].array.tolist()
        for item in instance.execute(requests)
    ]


def double_input(feed: dict[str, Array]) -> dict[str, Array]:
    return {"y": feed["x"] * 2}


def upper(feed: dict[str, Array]) -> dict[str, Array]:
    texts = [text.upper() for text in feed["x"].ravel()]
    return {"y": np.array(texts, np.object_).reshape(feed["x"].shape)}


def texts(*items: bytes) -> Array:
    return np.array([items], np.object_)


def test_neighbours_whose_shapes_agree_are_one_batch_and_each_gets_its_own_rows(instance: Instance) -> None:
    numbers: list[tuple[int, ...]] = []

    def note_feed(feed: dict[str, Array]) -> dict[str, Array]:
        numbers.append(feed["x"].shape)
        return double_input(feed)

    answers = instance_answers(instance(note_feed), [[1, 2]], [[3, 4], [5, 6]], [[7, 8, 9]], [[0, 1]])
    assert answers == [[[2, 4]], [[6, 8], [10, 12]], [[14, 16, 18]], [[0, 2]]]
    assert numbers == [(3, 2), (1, 3), (1, 2)]


def test_without_batches_each_request_is_computed_alone(instance: Instance) -> None:
    assert instance_answers(instance(double_input, batch=0), [1, 2], [3, 4]) == [[2, 4], [6, 8]]


def test_text_that_is_not_utf_8_fails_its_own_request_alone(instance: Instance) -> None:
    answers = instance_answers(instance(upper), texts(b"a", b"b"), texts(b"\xff", b"b"), texts(b"c", b"d"))
    assert answers == [[["A", "B"]], "stand-in: input 'x' holds text that is not UTF-8", [["C", "D"]]]


def test_what_fails_the_computation_is_told_to_each_request_of_its_batch(instance: Instance) -> None:
    def refuse_feed(feed: dict[str, Array]) -> dict[str, Array]:
        if (feed["x"] < 0).any():
            raise MemoryError("below")
        return double_input(feed)

    answers = instance_answers(instance(refuse_feed), [[1, 2]], [[-1, 2]], [[1, 2, 3]])
    assert answers == ["stand-in: below", "stand-in: below", [[2, 4, 6]]]


@pytest.mark.parametrize(
    ("shorten", "shape"),
    [(lambda x: x[:1], "(1, 2)"), (lambda x: x.sum(), "()"), (lambda x: np.concatenate([x, x]), "(6, 2)")],
)
def test_an_answer_of_another_batch_size_is_an_error_for_every_request(
    instance: Instance, shorten: Callable[[Array], Any], shape: str
) -> None:
    short = instance(lambda feed: {"y": np.asarray(shorten(feed["x"]))})
    text = f"stand-in: output 'y' has the shape {shape} for a batch of 3"
    assert instance_answers(short, [[1, 2]], [[3, 4]], [[5, 6]]) == [text] * 3


def test_a_single_request_is_told_of_another_batch_size_too(instance: Instance) -> None:
    first = instance(lambda feed: {"y": feed["x"][:1]})
    (text,) = instance_answers(first, [[1, 2], [3, 4]])
    assert text == "stand-in: output 'y' has the shape (1, 2) for a batch of 2"


def test_an_output_gets_the_shape_that_its_configuration_promises(instance: Instance) -> None:
    reshaped_instance = instance(double_input, dims=[2, 1], reshape={"shape": [2]})
    assert instance_answers(reshaped_instance, [[1, 2]], [[3, 4]]) == [[[[2], [4]]], [[[6], [8]]]]


def test_an_output_that_does_not_fit_its_shape_is_an_error_for_its_requests_alone(instance: Instance) -> None:
    reshaped_instance = instance(double_input, dims=[2, 1], reshape={"shape": [2]})
    good, bad = instance_answers(reshaped_instance, [[1, 2]], [[3, 4, 5]])
    assert good == [[[2], [4]]]
    assert bad == "stand-in: cannot reshape array of size 3 into shape (1,2,1)"
