"""The members of SageMaker's calls for an endpoint, each with the product's decision."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType
from typing import Any

from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.properties import property_at

FILE = "api_ledger.yaml"


class Decision(StrEnum):
    """The source of a member's value."""

    KEY = "key"
    """A key of the spec."""
    RAW = "raw"
    """The spec's `cloudformation`."""
    REFUSED = "refused"
    """Nothing: endpoints of this product do not have it."""
    OURS = "ours"
    """The product."""


@dataclass(frozen=True, kw_only=True)
class Member:
    """One member.

    Attributes:
        path: Its path in the resource, with `*` for an index: `ProductionVariants.*.InstanceType`.
        decision: What sets it.
        reason: One sentence without its full stop.
        key: The key of the spec that sets it; empty unless `decision` is `key`.
        is_checked: Whether the raw property is checked as the key is, or no rule depends on it.
        rule: The rule that reports the raw property; empty for the general one.
        inside: The shape of the API whose members stand on their own; empty for none.
        in_cloudformation: Whether CloudFormation's schema has it.
    """

    path: str
    decision: Decision
    reason: str
    key: str = ""
    is_checked: bool = False
    rule: str = ""
    inside: str = ""
    in_cloudformation: bool = True

    def __post_init__(self) -> None:
        """Refuse an entry that contradicts itself.

        Raises:
            ValueError: a key is missing, or stands beside another decision.
        """
        if bool(self.key) is not (self.decision is Decision.KEY):
            raise ValueError(
                f"{FILE}: {self.path} is decided by {self.decision} and names the key {self.key!r}"
            )


@cache
def ledger(resource: str) -> Mapping[str, Member]:
    """The members of a resource's calls by their path, with those inside of its container and its variant.

    Raises:
        KeyError: no such resource is in the ledger.
        ValueError: an entry contradicts itself.
    """
    return MappingProxyType({member.path: member for member in _members(resource)})


def values_of_the_api() -> Mapping[str, Mapping[str, str]]:
    """Values of members that the API takes and CloudFormation does not, with the facts about each."""
    values: Mapping[str, Mapping[str, str]] = data_file(FILE)["values_of_the_api"]
    return values


def ledger_resources() -> Mapping[str, tuple[str, ...]]:
    """The resources of the ledger, each with the shapes of its calls' requests."""
    return {name: tuple(facts["requests"]) for name, facts in data_file(FILE)["resources"].items()}


def _members(resource: str) -> Iterator[Member]:
    for name, entry in data_file(FILE)["resources"][resource]["members"].items():
        overrides = entry.get("overrides", {})
        outer = _member(name, {key: value for key, value in entry.items() if key != "overrides"})
        yield outer
        if outer.inside:
            is_list = "array" in property_at(resource, (name,)).property.types
            prefix = f"{name}.*" if is_list else name
            for inner, about in {**data_file(FILE)["inside"][outer.inside], **overrides}.items():
                yield _member(f"{prefix}.{inner}", about)


def _member(path: str, entry: Mapping[str, Any]) -> Member:
    return Member(path=path, **{**entry, "decision": Decision(entry["decision"])})
