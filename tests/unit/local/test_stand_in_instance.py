"""What stand-ins for backends make of several requests at once: each gets its own answer, or its own error."""

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
            made = type("Instance", (base,), methods)()
            made.take({"max_batch_size": batch, "output": [{"name": "y", "dims": [2], **output}]})
            return made

        yield make


def answered(instance: Any, *inputs: Any) -> list[Any]:
    """What becomes of each input `x`: its numbers, or the words of its error."""
    requests = [InferenceRequest({"x": np.array(x)}, ["y"]) for x in inputs]
    return [
        str(each.error) if each.error else each.tensors[0].array.tolist()
        for each in instance.execute(requests)
    ]


def doubled(feed: dict[str, Array]) -> dict[str, Array]:
    return {"y": feed["x"] * 2}


def upper(feed: dict[str, Array]) -> dict[str, Array]:
    texts = [text.upper() for text in feed["x"].ravel()]
    return {"y": np.array(texts, np.object_).reshape(feed["x"].shape)}


def texts(*items: bytes) -> Array:
    return np.array([items], np.object_)


def test_neighbours_whose_shapes_agree_are_one_batch_and_each_gets_its_own_rows(instance: Instance) -> None:
    fed: list[tuple[int, ...]] = []

    def noted(feed: dict[str, Array]) -> dict[str, Array]:
        fed.append(feed["x"].shape)
        return doubled(feed)

    answers = answered(instance(noted), [[1, 2]], [[3, 4], [5, 6]], [[7, 8, 9]], [[0, 1]])
    assert answers == [[[2, 4]], [[6, 8], [10, 12]], [[14, 16, 18]], [[0, 2]]]
    assert fed == [(3, 2), (1, 3), (1, 2)]


def test_without_batches_each_request_is_computed_alone(instance: Instance) -> None:
    assert answered(instance(doubled, batch=0), [1, 2], [3, 4]) == [[2, 4], [6, 8]]


def test_text_that_is_not_utf_8_fails_its_own_request_alone(instance: Instance) -> None:
    answers = answered(instance(upper), texts(b"a", b"b"), texts(b"\xff", b"b"), texts(b"c", b"d"))
    assert answers == [[["A", "B"]], "stand-in: input 'x' holds text that is not UTF-8", [["C", "D"]]]


def test_what_fails_the_computation_is_told_to_each_request_of_its_batch(instance: Instance) -> None:
    def refused(feed: dict[str, Array]) -> dict[str, Array]:
        if (feed["x"] < 0).any():
            raise MemoryError("below")
        return doubled(feed)

    answers = answered(instance(refused), [[1, 2]], [[-1, 2]], [[1, 2, 3]])
    assert answers == ["stand-in: below", "stand-in: below", [[2, 4, 6]]]


@pytest.mark.parametrize(
    ("shortened", "shape"),
    [(lambda x: x[:1], "(1, 2)"), (lambda x: x.sum(), "()"), (lambda x: np.concatenate([x, x]), "(6, 2)")],
)
def test_an_answer_of_another_batch_size_is_an_error_for_every_request(
    instance: Instance, shortened: Callable[[Array], Any], shape: str
) -> None:
    short = instance(lambda feed: {"y": np.asarray(shortened(feed["x"]))})
    said = f"stand-in: output 'y' has the shape {shape} for a batch of 3"
    assert answered(short, [[1, 2]], [[3, 4]], [[5, 6]]) == [said] * 3


def test_a_single_request_is_told_of_another_batch_size_too(instance: Instance) -> None:
    first = instance(lambda feed: {"y": feed["x"][:1]})
    (said,) = answered(first, [[1, 2], [3, 4]])
    assert said == "stand-in: output 'y' has the shape (1, 2) for a batch of 2"


def test_an_output_gets_the_shape_that_its_configuration_promises(instance: Instance) -> None:
    reshaped = instance(doubled, dims=[2, 1], reshape={"shape": [2]})
    assert answered(reshaped, [[1, 2]], [[3, 4]]) == [[[[2], [4]]], [[[6], [8]]]]


def test_an_output_that_does_not_fit_its_shape_is_an_error_for_its_requests_alone(instance: Instance) -> None:
    reshaped = instance(doubled, dims=[2, 1], reshape={"shape": [2]})
    good, bad = answered(reshaped, [[1, 2]], [[3, 4, 5]])
    assert good == [[[2], [4]]]
    assert bad == "stand-in: cannot reshape array of size 3 into shape (1,2,1)"
