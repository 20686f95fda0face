"""What a plain YAML value means: the core schema of YAML 1.2, which editors use too.

PyYAML's own rules are those of YAML 1.1, where `no` is false, `010` is 8 and `10:00` is 600.
"""

from __future__ import annotations

import re
from collections.abc import Callable

Scalar = str | int | float | bool | None

_MEANINGS: tuple[tuple[re.Pattern[str], Callable[[str], Scalar]], ...] = (
    (re.compile(r"~|null|Null|NULL|"), lambda _: None),
    (re.compile(r"true|True|TRUE|false|False|FALSE"), lambda text: text.lower() == "true"),
    (re.compile(r"[-+]?[0-9]{1,18}"), int),
    (re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?"), float),
)


def plain_value(text: str) -> Scalar:
    """The value of an unquoted scalar; what is no null, boolean or number is text: `yes`, or a date."""
    for form, value in _MEANINGS:
        if form.fullmatch(text):
            return value(text)
    return text
