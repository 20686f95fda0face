"""Variables of a Dockerfile have the values that Docker gives them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triton_fleet.builds.images.substitution import UnresolvedError, substitute

VALUES = {"A": "one", "EMPTY": "", "LONG_1": "x"}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("$A", "one"),
        ("${A}b", "oneb"),
        ("$LONG_1-", "x-"),
        ("${A:-other}", "one"),
        ("${EMPTY:-other}", "other"),
        ("${EMPTY-other}", ""),
        ("${NONE:-$A}", "one"),
        ("${NONE:-${OTHER:-deep}}", "deep"),
        ("${A:+set}", "set"),
        ("${EMPTY:+set}", ""),
        ("${EMPTY+set}", "set"),
        ("'$A'", "$A"),
        ('"$A"', "one"),
        ("\\$A", "$A"),
        ('"a\\b"', "a\\b"),
        ("a\\", "a\\"),
        ("$", "$"),
        ("a $ b", "a $ b"),
    ],
)
def test_a_value_is_put_in(text: str, value: str) -> None:
    assert substitute(text, VALUES).text == value


def test_a_variable_without_a_value_is_empty_and_known_as_unset() -> None:
    resolved_substitution = substitute("a:${NONE}$A${OTHER:-x}", VALUES)
    assert (resolved_substitution.text, resolved_substitution.unset) == ("a:onex", frozenset(["NONE"]))


def test_a_default_that_is_not_needed_asks_for_no_value() -> None:
    assert substitute("${A:-$NONE}", VALUES).unset == frozenset()


def test_a_backtick_escapes_where_the_file_says_so() -> None:
    assert substitute("`$A \\", VALUES, "`").text == "$A \\"


@pytest.mark.parametrize("text", ["${A", "${}", "${A%x}", "${A:-", "${NONE:?why}", "${A:-b" * 30])
def test_what_is_not_worked_out_is_refused(text: str) -> None:
    with pytest.raises(UnresolvedError):
        substitute(text, VALUES)


def test_values_that_repeat_each_other_end() -> None:
    values = {"A0": "x" * 1000}
    with pytest.raises(UnresolvedError, match="longer than 4096 characters"):
        for number in range(100):
            values[f"A{number + 1}"] = substitute(f"$A{number}$A{number}", values).text


@given(st.text(alphabet="aA$\\{}:-+?'\" `N", max_size=60))
def test_every_text_is_worked_out_or_refused(text: str) -> None:
    try:
        assert isinstance(substitute(text, VALUES).text, str)
    except UnresolvedError as error:
        assert str(error)


@given(st.text(alphabet=st.characters(exclude_characters="$\\'\"")))
def test_a_text_without_signs_stays_as_it_is(text: str) -> None:
    assert substitute(text, VALUES).text == text
