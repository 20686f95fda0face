"""What is found outside of the rules: by reading files, packing repositories, deploying and invoking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

import yaml

from fleet.findings import Severity

FILE = "other_codes.yaml"


@dataclass(frozen=True)
class Group:
    """Codes that are about one thing, each with a sentence.

    `warnings` are those of them that only warn; a spec may allow itself the codes of an `allowable` group.
    """

    about: str
    codes: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    allowable: bool = False


@cache
def groups() -> tuple[Group, ...]:
    """All codes that are no rules, in the order of the data file."""
    data = yaml.safe_load((files("fleet.rules") / FILE).read_text(encoding="utf-8"))
    return tuple(_group(**entry) for entry in data)


@cache
def other_codes() -> Mapping[str, str]:
    """The sentence of each code that is no rule."""
    return MappingProxyType({code: said for group in groups() for code, said in group.codes.items()})


@cache
def allowable_codes() -> frozenset[str]:
    """The codes that are no rules and that a spec may allow itself, as it may a rule."""
    return frozenset(code for group in groups() if group.allowable for code in group.codes)


def severity_of(code: str) -> Severity:
    """What a code that is no rule weighs, unless the finding says otherwise."""
    warnings = {each for group in groups() for each in group.warnings}
    return Severity.WARNING if code in warnings else Severity.ERROR


def _group(
    about: str, codes: dict[str, str], warnings: Sequence[str] = (), *, allowable: bool = False
) -> Group:
    return Group(about, MappingProxyType(codes), tuple(warnings), allowable)
