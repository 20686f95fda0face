"""A request that only one source of AWS allows is a warning, and one that none allows an error."""

from __future__ import annotations

from typing import Any

from triton_fleet.rules.example import ARCHIVE_SIZE, REGION, Case
from triton_fleet.rules.registry import rules

MIB = 1 << 20
SIZE_SOURCES = "SageMaker's hosting FAQs allow 25 MB, botocore's model of InvokeEndpoint allows 6 MiB"


def request_messages(models: dict[str, int], **spec: Any) -> list[tuple[bool, str]]:
    """Whether each problem is certain, and its message; `models` are bytes of an item by name."""
    facts = {name: {"backend": "python", "item_bytes": size} for name, size in models.items()}
    case = Case(spec=spec, region=REGION, models=facts, archive_size=ARCHIVE_SIZE)
    return [(problem.certain, problem.message) for problem in case.problems(rules()["FL260"])]


def sample(mebibytes: int, name: str = "picture") -> dict[str, Any]:
    return {"name": name, "inputs": {"x": {"datatype": "UINT8", "shape": [mebibytes, MIB], "data": 0}}}


def test_what_every_source_allows_is_fine() -> None:
    assert request_messages({"m": 6 * MIB}, samples=[sample(6)]) == []


def test_a_model_whose_item_lies_between_the_two_limits_gets_a_warning_with_both_sources() -> None:
    for size in (6 * MIB + 1, 25 * MIB):
        ((certain, message),) = request_messages({"m": size})
        assert not certain
        assert SIZE_SOURCES in message


def test_a_sample_between_the_two_limits_gets_the_same_warning() -> None:
    ((certain, message),) = request_messages({"m": 0}, samples=[sample(25)])
    assert (certain, message) == (False, f"the request of sample 'picture' has 25.0 MiB: {SIZE_SOURCES}")


def test_a_tensor_of_a_model_and_its_samples_is_warned_of_once_at_the_largest_request() -> None:
    ((_, message),) = request_messages(
        {"m": 8 * MIB}, samples=[sample(8, "one"), sample(16, "two"), sample(8, "three")]
    )
    assert message.startswith("the request of sample 'two' has 16.0 MiB")


def test_each_request_that_no_source_allows_is_an_error() -> None:
    rows = request_messages({"m": 25 * MIB + 1}, samples=[sample(26), sample(8, "less")])
    assert [certain for certain, _ in rows] == [True, True, False]
    assert rows[0][1] == (
        "a request of model 'm' has at least 25.0 MiB; a real-time call accepts 25 MB (SageMaker's hosting FAQs)"
    )
