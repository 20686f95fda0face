"""The names of rules and of other codes, in messages and in `allow`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType

from triton_fleet.findings import Severity
from triton_fleet.rules.codes import allowable_codes, other_names


def name_of(code: str) -> str:
    """The name of a rule or another code; empty for what is neither.

    All rules are loaded only for the code of one, when they have been loaded already to find it.
    """
    if code in other_names():
        return other_names()[code]
    from triton_fleet.rules.registry import rules

    return rules()[code].name if code in rules() else ""


def display_name(code: str) -> str:
    """A code as people read it, such as "missing-driver (FL204)"."""
    name = name_of(code)
    return f"{name} ({code})" if name else code


def finding_prefix(severity: Severity, code: str) -> str:
    """The beginning of a finding, such as "error[missing-driver] FL204"."""
    name = name_of(code)
    return f"{severity}[{name}] {code}" if name else f"{severity} {code}"


@cache
def codes_by_name() -> Mapping[str, str]:
    """The code of each name.

    Raises:
        ValueError: two codes have one name.
    """
    from triton_fleet.rules.registry import rules

    names = {**{code: rule.name for code, rule in rules().items()}, **other_names()}
    codes = dict[str, str]()
    for code, name in names.items():
        if codes.setdefault(name, code) != code:
            raise ValueError(f"{name} is the name of {codes[name]} and of {code}")
    return MappingProxyType(codes)


def code_of(word: str) -> str:
    """The code of a name; anything else as it is."""
    return codes_by_name().get(word, word)


def allowed_codes(allow: Iterable[str]) -> frozenset[str]:
    """The codes that a spec allows itself, by name or by code."""
    return frozenset(map(code_of, allow))


def allowable_names() -> list[str]:
    """The names that `allow` takes."""
    from triton_fleet.rules.registry import rules

    other_code_names = (other_names()[code] for code in allowable_codes())
    return sorted([*(rule.name for rule in rules().values() if not rule.is_needed), *other_code_names])
