"""The effective spec: every key as it holds in one environment, and where its value came from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from triton_fleet.project.layers import LayerKind, profiles_of
from triton_fleet.project.project import LoadedSpec
from triton_fleet.rules.about.security import SECRET_NAME, SECRET_VALUE
from triton_fleet.spec.source import KeyPath

HIDDEN_VALUE = "(not shown)"
"""Stands for what looks like a secret."""
FREE = ("environment", "cloudformation")
"""Keys of the spec below which users name things themselves, and may name a secret."""


@dataclass(frozen=True)
class Origin:
    """Where a value stands: file and line, None where it is written nowhere."""

    layer: LayerKind
    file: Path | None = None
    line: int | None = None


@dataclass(frozen=True)
class EffectiveSpec:
    """The spec in the order of the contract, in its own units, and the origin of each of its values.

    `data` is plain data as in JSON, with `(not shown)` for secrets. `origins` has every value except
    mappings and lists that are not empty.
    """

    data: Mapping[str, object]
    origins: Mapping[KeyPath, Origin]


def effective_spec(loaded_spec: LoadedSpec) -> EffectiveSpec:
    """The whole spec as it holds in an environment, defaults filled in; `profile` has all that apply."""
    data = loaded_spec.spec.model_dump(mode="json") | {"profile": list(loaded_spec.profiles)}
    origins = {path: _origin(loaded_spec, path) for path in _values(data, ())} | _of_profiles(loaded_spec)
    return EffectiveSpec({key: hide_secrets(value, (key,)) for key, value in data.items()}, origins)


def redact(name: str, value: str) -> str:
    """A value, unless it or its name looks like a secret; by the rule plain-text-secret."""
    if SECRET_VALUE.search(value):
        return HIDDEN_VALUE
    harmless = not value.strip() or value.startswith("arn:")
    return HIDDEN_VALUE if SECRET_NAME.search(name) and not harmless else value


def _origin(loaded_spec: LoadedSpec, path: KeyPath) -> Origin:
    mark = loaded_spec.source.marks.get(path)
    if mark is None and path[-1] == 0 and path[:-1] in loaded_spec.source.marks:
        return _origin(loaded_spec, path[:-1])  # a list of one, written as its only item: `profile: gpu`
    if mark is None:
        # A mapping of an alarm's severities replaces the default whole.
        is_default_gone = path[0] == "alarms" and len(path) > 2 and path[:2] in loaded_spec.source.marks
        return Origin(LayerKind.NOBODY if is_default_gone else LayerKind.CONTRACT)
    kinds = (layer.kind for layer in reversed(loaded_spec.layers) if layer.source.marks.get(path) == mark)
    return Origin(next(kinds, LayerKind.SPEC), mark.file, mark.line)


def _of_profiles(loaded_spec: LoadedSpec) -> dict[KeyPath, Origin]:
    """Where each profile is named; a promoted spec has those of its list."""
    origins_by_name = profiles_of(loaded_spec.layers)
    places = (
        (index, origins_by_name[profile])
        for index, profile in enumerate(loaded_spec.profiles)
        if profile in origins_by_name
    )
    return {("profile", index): Origin(kind, mark.file, mark.line) for index, (kind, mark) in places}


def _values(value: object, path: KeyPath) -> Iterator[KeyPath]:
    match value:
        case dict() if value:
            for key, inner in value.items():
                yield from _values(inner, (*path, key))
        case list() if value:
            for index, inner in enumerate(value):
                yield from _values(inner, (*path, index))
        case _:
            yield path


def hide_secrets(value: object, path: KeyPath) -> object:
    """A value at a place of a spec, with `(not shown)` for what looks like a secret."""
    match value:
        case dict():
            return {key: hide_secrets(inner, (*path, key)) for key, inner in value.items()}
        case list():
            return [hide_secrets(inner, (*path, index)) for index, inner in enumerate(value)]
        case str():
            return redact(_name(path), value)
        case _:
            return value


def _name(path: KeyPath) -> str:
    """The words by which users name a value; a property's path, with dots, is several."""
    return "_".join(map(str, path[1:])).replace(".", "_") if path[0] in FREE else ""
