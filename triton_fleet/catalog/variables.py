"""The container's environment variables: what each takes, what it becomes, and where it means nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from triton_fleet.catalog.data_file import data_file

Type = Literal["bool", "int", "float", "choice", "text", "flags", "log-level"]
"""What a value must look like; "flags" are options of tritonserver, "log-level" a boolean or a number."""
Meaning = Literal["", "log group", "namespace"]
"""The property of published metrics that a variable sets; several may set the same."""


@dataclass(frozen=True, kw_only=True)
class Variable:
    """One variable of the container.

    Attributes:
        minimum: Of a number; None without a limit, as `maximum`.
        choices: Of type "choice".
        since: The first release that reads it; None where every release does.
        until: The first release that no longer reads it; None where the newest does.
        values_until: By value: the first release that no longer takes it.
        modes: "single", "multi-model", "shared-container": those in which it has an effect.
        set_by: Who writes it: "user", "platform" (SageMaker) or "fleet" (from other keys of the spec).
        dead: Nothing reads it, in no release.
        certain: Whether its name and meaning were read in the container's source, or in AWS's documents.
        default: What the container takes when it is unset or empty; None where it then passes nothing on.
        option: What of tritonserver's command line its value completes; None where it becomes none.
        shared_option: The same in a shared container, where that is another one; None where it is not.
        for_each_gpu: The option is given once for each GPU, with its number and a colon before the value.
        means: The property of published metrics that it sets; empty if it sets something else.
        trap: What goes wrong with it, in one sentence; or empty.
    """

    name: str
    type: Type
    minimum: float | None = None
    maximum: float | None = None
    choices: tuple[str, ...] = ()
    since: str | None = None
    until: str | None = None
    values_until: Mapping[str, str] = field(default_factory=dict)
    modes: tuple[str, ...] = ("single", "multi-model", "shared-container")
    set_by: Literal["user", "platform", "fleet"] = "user"
    dead: bool = False
    certain: bool = True
    default: str | None = None
    option: str | None = None
    shared_option: str | None = None
    for_each_gpu: bool = False
    means: Meaning = ""
    trap: str = ""


@cache
def variables() -> Mapping[str, Variable]:
    """Every variable by its name, in the order in which the container's start script reads them."""
    entries: dict[str, dict[str, Any]] = data_file("variables.yaml")["variables"]
    return MappingProxyType({name: _variable(name, facts) for name, facts in entries.items()})


def variables_of(meaning: Meaning) -> tuple[str, ...]:
    """Every variable of one meaning: no public source settles which of them is read."""
    return tuple(name for name, about in variables().items() if about.means == meaning)


def _variable(name: str, facts: dict[str, Any]) -> Variable:
    lists: dict[str, Any] = {key: tuple(facts[key]) for key in ("choices", "modes") if key in facts}
    return Variable(name=name, **(facts | lists))
