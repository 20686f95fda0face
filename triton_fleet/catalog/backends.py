"""Backends of Triton's images, and the files, data types and parameters that each asks of a model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from triton_fleet.catalog.data_file import data_file

Number = Literal["", "int", "float", "digits", "python"]
"""How a number is read: as C++ does, which leaves out what follows it; digits alone; as Python does."""
FileKind = Literal["file", "folder", "either"]


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A parameter of a model's configuration, and what its backend makes of a value that it cannot read.

    Attributes:
        values: All that it can be; with `number` a number as well. Empty, and `number` too: any text.
        any_case: Whether upper and lower case are the same.
        silent: Values, beyond `values`, that mean what the backend makes of any other.
        empty: Whether an empty value is as good as none.
        minimum: Of a number; None without a limit, as `maximum`.
        default: What the backend takes without it; empty where that is not a fixed value.
        since: The first release that reads it; empty where every release does.
        until: The first release that no longer reads it; empty where the newest does.
        values_since: By value: the first release that takes it.
        instead: The parameter that came in its place; or empty.
        message: The backend's message about a wrong value, with {value}, {lower}, {key} and {model}.
        beyond: Its message about a number out of range; empty if it has none.
        bounded_since: The first release that refuses a number out of range; empty where every release does.
        fails: Whether a wrong value fails the load; else it is ignored.
        fails_since: The first release in which it does; empty where every release does.
        gpu: Whether only instances on a GPU read it.
    """

    name: str
    values: tuple[str, ...] = ()
    any_case: bool = False
    silent: tuple[str, ...] = ()
    empty: bool = False
    number: Number = ""
    minimum: int | None = None
    maximum: int | None = None
    default: str = ""
    since: str = ""
    until: str = ""
    values_since: Mapping[str, str] = field(default_factory=dict)
    instead: str = ""
    message: str = ""
    beyond: str = ""
    bounded_since: str = ""
    fails: bool = True
    fails_since: str = ""
    gpu: bool = False


@dataclass(frozen=True, kw_only=True)
class Accelerator:
    """An execution accelerator: `open` if it takes any parameter, `message` is its message for others."""

    name: str
    since: str = ""
    open: bool = False
    message: str = ""
    parameters: Mapping[str, Parameter] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ModelFile:
    """A file that a version directory has to hold.

    Attributes:
        kind: What it may be.
        platform: The platform that it belongs to; empty for any.
        parameter: Parameters, by key, with the value that it belongs to.
        since: The first release that looks for it; empty where every release does.
        always: Whether it is looked for, as the last, where another file is named as well.
        inside: The file that it holds if it is a folder; or empty.
        beside: By a file's ending, that of a second file which belongs to it.
    """

    name: str
    kind: FileKind = "file"
    platform: str = ""
    parameter: Mapping[str, str] = field(default_factory=dict)
    since: str = ""
    always: bool = False
    inside: str = ""
    beside: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Backend:
    """One backend, or what one of its platforms or runtimes makes of it.

    Attributes:
        completes: The parts of a configuration that it may complete from the model.
        as_a_whole: Whether it completes inputs, or outputs, only where the configuration has none at all.
        types: Data types of inputs and outputs; empty where its source names none.
        types_since: By type: the first release that takes it.
        kinds: Of instance groups that it runs; empty for all. `kinds_message` are its words about another.
        files: What it looks for, in its order.
        plain_since: The first release that takes letters, digits and `_.-` alone in a file's name; or empty.
        plain_message: Its words about another one, with {name} and {character}.
        open: Whether models read parameters of their own.
        elsewhere: Parameters that it does not read, with a note on each.
        accelerators: By "gpu" and "cpu", those that it knows; without an entry all are left alone.
    """

    name: str
    source: str
    backend: str
    platform: str = ""
    runtime: str = ""
    completes: tuple[str, ...] = ()
    as_a_whole: bool = False
    types: tuple[str, ...] = ()
    types_since: Mapping[str, str] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    kinds_message: str = ""
    files: tuple[ModelFile, ...] = ()
    plain_since: str = ""
    plain_message: str = ""
    open: bool = False
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    elsewhere: Mapping[str, str] = field(default_factory=dict)
    accelerators: Mapping[str, Mapping[str, Accelerator]] = field(default_factory=dict)


def backend_facts(backend: str, *, platform: str = "", runtime: str = "") -> Backend | None:
    """The facts about the backend that serves a model; None for one that is not Triton's own.

    Args:
        backend: Such as "pytorch".
        platform: Of the configuration; decides where one backend serves models of several formats.
        runtime: Of the configuration; decides where a backend has several, and an unknown one is nobody's.
    """
    libraries = ("", f"libtriton_{backend}.so")
    for candidate in backends().values():
        is_match = candidate.backend == backend and candidate.platform in ("", platform)
        if is_match and (runtime == candidate.runtime if candidate.runtime else runtime in libraries):
            return candidate
    return None


@cache
def backends() -> Mapping[str, Backend]:
    """Every entry of the data file by its name, those of one platform before the others of the backend."""
    entries: dict[str, dict[str, Any]] = data_file("backends.yaml")["backends"]
    by_name = {name: _backend(name, dict(facts)) for name, facts in entries.items()}
    return MappingProxyType(dict(sorted(by_name.items(), key=lambda entry: not entry[1].platform)))


def core_parameter(name: str) -> Mapping[str, str]:
    """The facts about a parameter that Triton's core reads, whatever the backend.

    Raises:
        KeyError: the catalog does not have it.
    """
    facts: Mapping[str, str] = data_file("backends.yaml")["core"][name]
    return facts


def _backend(name: str, facts: dict[str, Any]) -> Backend:
    for key in ("completes", "types", "kinds"):
        facts[key] = tuple(facts.get(key, ()))
    facts["files"] = tuple(ModelFile(**file) for file in facts["files"])
    facts["parameters"] = _parameters(facts.get("parameters", {}))
    facts["accelerators"] = {
        kind: {name: _accelerator(name, dict(of)) for name, of in accelerators.items()}
        for kind, accelerators in facts.get("accelerators", {}).items()
    }
    return Backend(name=name, backend=facts.pop("backend", name), **facts)


def _accelerator(name: str, facts: dict[str, Any]) -> Accelerator:
    return Accelerator(name=name, parameters=_parameters(facts.pop("parameters", {})), **facts)


def _parameters(entries: Mapping[str, Mapping[str, Any]]) -> dict[str, Parameter]:
    return {name: _parameter(name, facts) for name, facts in entries.items()}


def _parameter(name: str, facts: Mapping[str, Any]) -> Parameter:
    readers = data_file("backends.yaml")["readers"]
    parameter = {**facts}
    if reader := parameter.pop("reader", ""):
        parameter = {**readers[reader], **parameter}
    for key in ("values", "silent"):
        parameter[key] = tuple(parameter.get(key, ()))
    return Parameter(name=name, **parameter)
