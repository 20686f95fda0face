"""How the container starts tritonserver, and what its SageMaker front end makes of errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType

from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.variables import variables


@dataclass(frozen=True, kw_only=True)
class Service:
    """What answers in the container beside the calls of models.

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
    """What the instances of one model have on a GPU."""

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
    """What may answer beside the calls of models."""
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
    return MappingProxyType({backend: Weights(said) for backend, said in facts.items()})


def gpu_backends() -> frozenset[str]:
    """Backends that run only on a GPU."""
    return frozenset(data_file("front_end.yaml")["gpu_backends"])


def variable_of_flag(flag: str) -> str | None:
    """The variable whose value the container completes this very flag with: its name, or None."""
    options = {about.option: name for name, about in variables().items() if about.option and not about.dead}
    return next((name for option, name in options.items() if _completes(option, flag)), None)


def _completes(option: str, flag: str) -> bool:
    return option.endswith("=") and (flag.startswith(option) or flag == option.removesuffix("="))
