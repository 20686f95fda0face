"""Tags, as all services take them that are deployed here."""

from __future__ import annotations

import unicodedata
from typing import Annotated

from pydantic import AfterValidator, StringConstraints

_SIGNS = frozenset("_.:/=+-@")


def _plain(text: str) -> str:
    for character in text:
        if character not in _SIGNS and unicodedata.category(character)[0] not in "LNZ":
            raise ValueError(
                f"{character!r} is not allowed in a tag, which has letters, digits, spaces and _.:/=+-@"
            )
    return text


def _require_unreserved(key: str) -> str:
    if key.lower().startswith(("aws:", "triton-fleet:")):
        raise ValueError("tags that begin with `aws:` or `triton-fleet:` are reserved")
    return key


TagKey = Annotated[
    str,
    StringConstraints(min_length=1, max_length=128),
    AfterValidator(_plain),
    AfterValidator(_require_unreserved),
]
TagValue = Annotated[str, StringConstraints(max_length=256), AfterValidator(_plain)]
Tags = dict[TagKey, TagValue]
