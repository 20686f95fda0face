"""Patterns of a .dockerignore file match what Docker's match, in little time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from triton_fleet.builds.images.ignore_file import IgnorePattern, PatternError, parse_pattern


def pattern(text: str) -> IgnorePattern:
    parsed_pattern = parse_pattern(text, 1)
    assert parsed_pattern is not None
    return parsed_pattern


def oracle(text: str) -> re.Pattern[str]:
    """The documented meaning as a regular expression, which may try a path many times."""
    if text.startswith("**") and len(text) > 2 and not set(text[2:]) & set("/*?"):
        return re.compile(f".*{re.escape(text[2:])}", re.DOTALL)
    made_text, at = "", 0
    while at < len(text):
        if text.startswith("**", at):
            at += 3 if text.startswith("/", at + 2) else 2
            made_text += "(.*/)?" if at < len(text) else ".*"
        else:
            made_text += {"*": "[^/]*", "?": "[^/]"}.get(text[at], re.escape(text[at]))
            at += 1
    return re.compile(made_text, re.DOTALL)


@pytest.mark.parametrize(
    ("text", "path", "is_expected"),
    [
        ("a", "a", True),
        ("a", "b/a", False),
        ("/a/b", "a/b", True),
        ("./a//b/", "a/b", True),
        ("a/../b", "b", True),
        ("*/temp*", "x/temporary", True),
        ("*/temp*", "x/y/temp", False),
        ("*/*/temp*", "x/y/temp", True),
        ("temp?", "tempa", True),
        ("temp?", "temp", False),
        ("*.md", "README.md", True),
        ("*.md", "docs/README.md", False),
        ("**/*.go", "a.go", True),
        ("**/*.go", "a/b/c.go", True),
        ("**/.git", ".git", True),
        ("**/git", "agit", False),
        ("**git", "a/agit", True),
        ("a/**", "a", False),
        ("a/**", "a/b/c", True),
        ("a/**/c", "a/c", True),
        ("a/**/c", "a/x/y/c", True),
        ("**", "anything/at/all", True),
        ("[a-c]x", "bx", True),
        ("[a-c]x", "dx", False),
        ("[^a-c]x", "dx", True),
        ("[^a-c]x", "ax", False),
        ("a[^b]c", "a/c", False),
        ("a**b**c", "ab/x/c", True),
        ("**/a*b/**", "x/acb/y", True),
        ("[a\\]]", "]", True),
        ("a\\*", "a*", True),
        ("a\\*", "ab", False),
        (".", "a", False),
        ("a+b(c)|$", "a+b(c)|$", True),
        ("é*", "éa", True),
    ],
)
def test_a_pattern_matches_as_docker_documents_it(text: str, path: str, is_expected: bool) -> None:
    assert pattern(text).matches(path) is is_expected


def test_an_exclamation_mark_makes_an_exception() -> None:
    actual_pattern = pattern("! a/b ")
    assert (actual_pattern.text, actual_pattern.is_exception, actual_pattern.source_text) == (
        "a/b",
        True,
        "!a/b",
    )


@pytest.mark.parametrize("text", ["", "   ", "\r"])
def test_an_empty_line_is_no_pattern(text: str) -> None:
    assert parse_pattern(text, 1) is None


@pytest.mark.parametrize(
    "text",
    ["!", "! ", "a[", "a[]", "[-a]", "[a-]", "[z-a]", "a\\", "[a\\", "**a" * 300, "x" * 1025],
    ids=repr,
)
def test_what_docker_refuses_is_refused(text: str) -> None:
    with pytest.raises(PatternError):
        parse_pattern(text, 1)


TEXTS = st.text(alphabet="ab/*?.", min_size=1, max_size=12)
PATHS = st.lists(st.text(alphabet="ab.", min_size=1, max_size=3), min_size=1, max_size=4).map("/".join)


@given(TEXTS, PATHS)
def test_a_pattern_matches_what_its_regular_expression_does(text: str, path: str) -> None:
    pattern = parse_pattern(text, 1)
    assert pattern is not None
    assert pattern.matches(path) is (oracle(pattern.text).fullmatch(path) is not None)


@given(TEXTS, PATHS, PATHS)
def test_below_a_folder_nothing_matches_that_was_not_expected(text: str, folder: str, path: str) -> None:
    pattern = parse_pattern(text, 1)
    assert pattern is not None
    if pattern.matches(f"{folder}/{path}"):
        assert pattern.may_match_below(folder)


@given(st.text(max_size=20), PATHS)
def test_every_text_is_a_pattern_or_is_refused(text: str, path: str) -> None:
    try:
        pattern = parse_pattern(text, 1)
    except PatternError as error:
        assert str(error)
    else:
        assert pattern is None or pattern.matches(path) in (True, False)


@pytest.mark.parametrize("text", ["*a" * 500, "*" * 1000, "**/" * 300, "[a-z]*" * 150])
def test_no_pattern_tries_a_path_without_end(text: str) -> None:
    assert pattern(text).matches("a" * 4000 + "!") in (True, False)
