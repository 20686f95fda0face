"""A plain call, which nginx passes on itself, gets what the script gives for the same call."""

from __future__ import annotations

import pytest

from shared_container.nginx_config import MAX_BODY_BYTES
from tests.support.shared_containers import BINARY, JSON, Answer, SharedContainer, binary, tensor

pytestmark = pytest.mark.triton

BODIES = {
    "a tensor": tensor(5),
    "an error of the model": tensor(-400),
    "a failure of the model": tensor(-500),
    "a model that finds nothing": tensor(-404),
    "a model that is not available": tensor(-503),
    "no body": "",
    "an object without inputs": "{}",
    "a list": "[]",
    "half of a body": tensor(5)[:-3],
    "no JSON": "no",
    "no UTF-8": b'{"inputs": "\xff"}',
    "deep nesting": "[" * 100_000,
    "an unknown type": tensor(5).replace("INT64", "INT65"),
    "an unknown input": tensor(5).replace('"x"', '"z"'),
    "a wrong shape": tensor(5).replace("[1]", "[2]"),
    "an unknown output": tensor(5)[:-1] + ', "outputs": [{"name": "z"}]}',
    "a name of a model in the body": '{"modelname": "text", "payload": {}}',
    "a body of the limit": tensor(5) + " " * (MAX_BODY_BYTES - len(tensor(5))),
    "a body beyond the limit": " " * (MAX_BODY_BYTES + 1),
    "a long answer": tensor(*[1 << 60] * 280_000),
}


def plain_answers(
    container: SharedContainer, body: str | bytes, attributes: str | None, headers: dict[str, str]
) -> tuple[Answer, Answer]:
    """The answer to a plain call, and to the same call with an attribute that means nothing."""
    other_text = "trace" if attributes is None else f"{attributes};trace"
    return (container.invoke(body, attributes, headers), container.invoke(body, other_text, headers))


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
@pytest.mark.parametrize("attributes", ["model=resnet", "version=1"])
def test_a_call_in_json_gets_the_same_answer(
    container: SharedContainer, body: str | bytes, attributes: str
) -> None:
    plain, answer = plain_answers(container, body, attributes, JSON)
    assert plain == answer
    assert plain.type == JSON["Content-Type"]


@pytest.mark.parametrize(
    "attributes",
    [
        None,
        "",
        "model=resnet;version=2",
        "model=constructor",
        "model=text",
        "model=RESNET",
        "model=secret",
        "model=resnet;version=3",
        "model=resnet;version=01",
        " model=resnet ",
        "model= resnet",
        "model=resnet;model=resnet",
        "model=resnet;;",
        "model=",
    ],
)
def test_a_header_means_the_same(container: SharedContainer, attributes: str | None) -> None:
    for body, headers in ((tensor(5), JSON), binary(5)):
        plain, answer = plain_answers(container, body, attributes, headers)
        assert plain == answer


@pytest.mark.parametrize("attributes", [None, "model=resnet", "model=resnet;version=1"])
@pytest.mark.parametrize("value", [5, -400, -404, -500])
def test_a_binary_call_gets_the_same_answer(
    container: SharedContainer, attributes: str | None, value: int
) -> None:
    plain, answer = plain_answers(container, *binary(value)[:1], attributes, binary(value)[1])
    assert plain == answer
    assert plain.type.startswith(BINARY if value == 5 else JSON["Content-Type"])


@pytest.mark.parametrize("size", [0, 3, 99999, 999999999])
def test_a_wrong_size_gets_the_same_answer(container: SharedContainer, size: int) -> None:
    headers = {"Content-Type": f"{BINARY};json-header-size={size}"}
    plain, answer = plain_answers(container, binary(5)[0], "model=resnet", headers)
    assert plain == answer


@pytest.mark.parametrize(("value", "count"), [(5, 1), (-400, 1), (-500, 1), (-404, 2), (-503, 2)])
def test_only_what_may_mean_that_a_model_is_not_loaded_is_asked_twice(
    container: SharedContainer, value: int, count: int
) -> None:
    before = len(container.recorded_lines())
    container.invoke(tensor(value), "model=resnet;version=2")
    assert container.recorded_lines()[before:] == [f"resnet_image/2 {value}"] * count
