"""How a spec names its profiles, and the environments that it differs in."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, StringConstraints

from fleet.spec.values import NAME_LENGTH

ProfileName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=NAME_LENGTH)]


def _listed(value: object) -> object:
    return [value] if isinstance(value, str) else value


ProfileNames = Annotated[
    tuple[ProfileName, ...],
    Field(strict=False),
    BeforeValidator(_listed, json_schema_input_type=ProfileName | list[ProfileName]),
]
"""One name, or a list of names."""
EnvironmentName = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]{0,15}$")]
"""No hyphens: they separate the parts of stack names."""
EnvironmentOverrides = dict[EnvironmentName, dict[str, object]]
