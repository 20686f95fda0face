"""How a spec names its profiles, and the environments that it differs in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints

from triton_fleet.spec.source import KeyPath
from triton_fleet.spec.values import NAME_LENGTH

_NAME = r"^[a-z0-9]+(-[a-z0-9]+)*$"
PROFILE_NAME_RULE = (
    f"the name of a profile has at most {NAME_LENGTH} lower-case letters, digits and inner hyphens"
)
ProfileName = Annotated[str, StringConstraints(pattern=_NAME, max_length=NAME_LENGTH)]


def is_profile_name(name: str) -> bool:
    """Whether a profile can have the name."""
    return re.fullmatch(_NAME.strip("^$"), name) is not None and len(name) <= NAME_LENGTH


def written_names(value: object) -> Iterator[tuple[KeyPath, str]]:
    """The names in the value of `profile`, each with its place in the file."""
    if isinstance(value, str):
        yield ("profile",), value
    for index, name in enumerate(value if isinstance(value, list) else ()):
        if isinstance(name, str):
            yield ("profile", index), name


def _as_list(value: object) -> object:
    if value is None or isinstance(value, str):
        return [] if value is None else [value]
    if not isinstance(value, list | tuple):
        raise ValueError("it must be the name of a profile, or a list of names")
    return value


ProfileNames = Annotated[
    tuple[ProfileName, ...],
    Field(strict=False),
    BeforeValidator(_as_list, json_schema_input_type=ProfileName | list[ProfileName]),
]
"""One name, or a list of names."""
EnvironmentName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]{0,15}$")]
"""No hyphens: they separate the parts of stack names."""
EnvironmentOverrides = dict[EnvironmentName, dict[str, object]]
