"""What a plain YAML value means: null, true, false, a decimal number, or text, as in YAML 1.2.

PyYAML's own rules are those of YAML 1.1, where `no` is false, `010` is 8 and `10:00` is 600.
"""

from __future__ import annotations

import math
import re

Scalar = str | int | float | bool | None

_FIRST = {"", *"~nNtTfF+-.0123456789"}
"""What text begins with that may be anything else; most does not."""
_NULL = re.compile(r"~|null|Null|NULL|")
_BOOLEAN = re.compile(r"true|True|TRUE|false|False|FALSE")
_INTEGER = re.compile(r"[-+]?[0-9]{1,1000}")
_NUMBER = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_OTHER_NUMBER = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def plain_value(text: str) -> Scalar:
    """The value of an unquoted scalar.

    Raises:
        ValueError: it is a number to an editor and none to us: hexadecimal, octal, or not finite.
    """
    if text[:1] not in _FIRST:
        return text
    if _NULL.fullmatch(text):
        return None
    if _BOOLEAN.fullmatch(text):
        return text.lower() == "true"
    if _INTEGER.fullmatch(text):
        return int(text)
    if _NUMBER.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    if _NUMBER.fullmatch(text) or _OTHER_NUMBER.fullmatch(text):
        raise ValueError(f"{text} is not a decimal number")
    return text
