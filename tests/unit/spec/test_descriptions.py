"""The description of a key is the string below it, that of a class below included."""

from __future__ import annotations

from pydantic import BaseModel

from triton_fleet.spec.values import descriptions


class Below(BaseModel):
    """Something."""

    first: int
    """The first,
    over two lines."""
    second: int = 2


class Above(Below):
    second: int = 3
    """Now with a description."""
    third: int = 1
    "no key of its own has the string of the next one"
    fourth: int = 1


def test_each_key_with_a_string_below_it_has_it_in_the_class_and_in_those_that_extend_it() -> None:
    assert descriptions(Below) == {"first": "The first,\nover two lines."}
    assert descriptions(Above) == {
        "first": "The first,\nover two lines.",
        "second": "Now with a description.",
        "third": "no key of its own has the string of the next one",
    }
