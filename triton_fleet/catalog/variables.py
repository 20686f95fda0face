"""The container: its environment variables, how it starts tritonserver, and what it makes of errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from triton_fleet.catalog.data_file import data_file

Type = Literal["bool", "int", "float", "choice", "text", "flags", "log-level"]
"""The form of a value; "flags" are options of tritonserver, "log-level" a boolean or a number."""
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


@dataclass(frozen=True, kw_only=True)
class Service:
    """A service that answers in the container beside the calls of models.

    Attributes:
        name: As messages call it, such as "gRPC".
        flag: What the names of its flags share, such as "grpc" in --grpc-port.
        tritons_port: Its default port.
        allowed_by: The variable that turns it on; empty where only a flag does.
        port_from: The variable that sets its port; empty where only a flag does.
        port: What the variable is set to where a spec names no port.
    """

    name: str
    flag: str
    tritons_port: int
    allowed_by: str = ""
    port_from: str = ""
    port: int | None = None

    @property
    def allow_flag(self) -> str:
        """The flag that turns it on and off."""
        return f"--allow-{self.flag}"

    @property
    def port_flag(self) -> str:
        """The flag that sets its port."""
        return f"--{self.flag}-port"


class Weights(StrEnum):
    """The weights that the instances of one model have on a GPU."""

    OWN = "own"
    SHARED = "shared"
    UNKNOWN = "unknown"


def flags_of_the_start_script() -> Mapping[str, str]:
    """Flags that the start script gives itself, with what it gives."""
    return dict(data_file("front_end.yaml")["flags_of_the_start_script"])


def flags_of_the_shared_container() -> Mapping[str, str]:
    """Flags that a shared container gives its tritonserver, with what it gives."""
    return dict(data_file("front_end.yaml")["flags_of_the_shared_container"])


@cache
def flags() -> frozenset[str]:
    """Every flag that tritonserver is known to take."""
    return frozenset(data_file("front_end.yaml")["flags"])


def flags_of_single_mode() -> tuple[str, ...]:
    """Flags that a multi-model container does not work with."""
    return tuple(data_file("front_end.yaml")["flags_of_single_mode"])


def out_of_memory() -> tuple[str, ...]:
    """The texts with which an error counts as a lack of memory."""
    return tuple(data_file("front_end.yaml")["out_of_memory"])


@cache
def services() -> tuple[Service, ...]:
    """The services that may answer beside the calls of models."""
    return tuple(
        Service(name=name, **facts) for name, facts in data_file("front_end.yaml")["services"].items()
    )


def safe_ports() -> range:
    """The ports that SageMaker lets a container bind, beside that of the invocations."""
    facts = data_file("front_end.yaml")["safe_ports"]
    return range(facts["first"], facts["last"] + 1)


@cache
def weights_of_instances() -> Mapping[str, Weights]:
    """By backend, whether instances share their weights; the files of other backends do not show them."""
    facts: dict[str, str] = data_file("front_end.yaml")["weights_of_instances"]
    return MappingProxyType({backend: Weights(kind) for backend, kind in facts.items()})


def gpu_backends() -> frozenset[str]:
    """Backends that run only on a GPU."""
    return frozenset(data_file("front_end.yaml")["gpu_backends"])


def variable_of_flag(flag: str) -> str | None:
    """The variable whose value the container completes this very flag with: its name, or None."""
    options = {about.option: name for name, about in variables().items() if about.option and not about.dead}
    return next((name for option, name in options.items() if _completes(option, flag)), None)


def _completes(option: str, flag: str) -> bool:
    return option.endswith("=") and (flag.startswith(option) or flag == option.removesuffix("="))
