"""Pydantic's kinds of mistakes in our own words."""

from __future__ import annotations

import re
from collections.abc import Mapping

from pydantic_core import ErrorDetails

WORDS: Mapping[str, str] = {
    "int_type": "it must be a whole number",
    "float_type": "it must be a number",
    "bool_type": "it must be true or false",
    "string_type": "it must be text",
    "model_type": "it must be a mapping of keys",
    "dict_type": "it must be a mapping of keys",
    "tuple_type": "it must be a list",
    "enum": "it must be {expected}",
    "literal_error": "it must be {expected}",
    "string_pattern_mismatch": "it must match {pattern}",
    "string_too_short": "it must have at least {min_length} characters",
    "string_too_long": "it must have at most {max_length} characters",
    "too_short": "it must have at least {min_length} items, and has {actual_length}",
    "too_long": "it must have at most {max_length} items, and has {actual_length}",
    "greater_than": "it must be more than {gt}",
    "greater_than_equal": "it must be at least {ge}",
    "less_than_equal": "it must be at most {le}",
}
_BOOLEANS: Mapping[str, str] = {
    **dict.fromkeys(("true", "yes", "y", "on", "1"), "true"),
    **dict.fromkeys(("false", "no", "n", "off", "0"), "false"),
}
"""What others write, such as YAML 1.1."""
_NUMBER = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(d|days?|%)?")
"""Units that change no number where none is written."""


def in_words(detail: ErrorDetails, unit: str = "") -> str:
    """What is wrong, as a clause that may follow the value; `unit` is that of its limits."""
    words = WORDS.get(detail["type"])
    if words is None:
        return detail["msg"][0].lower() + detail["msg"][1:]
    limits = {key: _plain(value) for key, value in detail.get("ctx", {}).items()}
    return words.format_map(limits) + (unit if words.endswith(("{ge}", "{gt}", "{le}")) else "")


def remedy(detail: ErrorDetails) -> str:
    """What to write where the value tells; else nothing."""
    kind, value = detail["type"], detail["input"]
    if kind == "bool_type" and (meant := _BOOLEANS.get(str(value).lower())):
        return f"write `{meant}`, without quotes"
    if kind in ("int_type", "float_type") and isinstance(value, str):
        found = _NUMBER.fullmatch(value)
        if found and (kind == "float_type" or found[1].isdecimal()):
            return f"write `{found[1]}`, without {'a unit' if found[2] else 'quotes'}"
    return ""


def _plain(value: object) -> object:
    return f"{value:.15g}" if isinstance(value, float) else value
