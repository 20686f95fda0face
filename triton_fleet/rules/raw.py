"""Helpers of the rules about raw properties."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import TypeVar

from triton_fleet.catalog.api_ledger import Decision, Member, ledger
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.machines import OWN_MODEL, further_variant
from triton_fleet.context.raw import RawProperty, raw_properties
from triton_fleet.spec.source import KeyPath

RESOURCES = ["Model", "EndpointConfig", "Endpoint"]
"""Resources that `cloudformation` may change."""
WHOLES = {
    "EndpointConfig": ("ProductionVariants", "ProductionVariants.0"),
    "Model": ("PrimaryContainer",),
    "Endpoint": (),
}
"""Lists and mappings that hold what follows from the spec."""
OWN_MODEL_NAME = f"{{Fn::GetAtt: [{OWN_MODEL}, ModelName]}}"
"""How a raw property names the Model that the spec describes."""
Entry = TypeVar("Entry")
MAX_VALUE = 60
"""So many characters of a value are shown."""


def judged_properties(endpoint: EndpointContext, resource: str) -> Iterator[RawProperty]:
    """The raw properties of a resource, without those of further variants, which are refused as a whole."""
    return (raw for raw in raw_properties(endpoint.spec, resource) if not further_variant(raw))


def outermost(
    endpoint: EndpointContext, resource: str, names: Mapping[str, Entry]
) -> Iterator[tuple[RawProperty, Entry]]:
    """The raw properties of the given names or below one, with what the name stands for; the outer ones."""
    paths = set[KeyPath]()
    for raw in judged_properties(endpoint, resource):
        general = f"{raw.general}."
        for name, entry in names.items():
            if general.startswith(f"{name}."):
                if raw.path[:-1] not in paths:
                    yield raw, entry
                paths.add(raw.path)


@cache
def decided_members(resource: str, *decisions: Decision) -> Mapping[str, Member]:
    """The properties of a resource that FL263 refuses by a decision; each path has `*` for an index."""
    return {
        path: member
        for path, member in ledger(resource).items()
        if member.decision in decisions and not (member.rule or member.inside)
    }


def nested_keys(value: object) -> Iterator[tuple[str, object]]:
    """All keys in a value, each with what it stands for."""
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key), inner
            yield from nested_keys(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from nested_keys(inner)


def value_text(value: object) -> str:
    """The value as a message names it, cut off where it is long."""
    text = repr(value)
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"
