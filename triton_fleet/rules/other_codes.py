"""What is found outside of the rules: by reading files, packing repositories, deploying and invoking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from triton_fleet.catalog.data_file import parse_yaml
from triton_fleet.findings import Severity

FILE = "other_codes.yaml"


@dataclass(frozen=True)
class Group:
    """Codes that are about one thing, each with a sentence.

    Attributes:
        about: What they are about.
        codes: Their sentences.
        names: Their names.
        warnings: Those that only warn.
        either: Those that are errors where the container surely fails, and warnings where it may not.
        allowable: Whether a spec may allow itself the codes of the group, except those that are `needed`.
        needed: Those that it may not.
        instead: What to do in place of allowing one.
    """

    about: str
    codes: Mapping[str, str]
    names: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    either: tuple[str, ...] = ()
    allowable: bool = False
    needed: tuple[str, ...] = ()
    instead: str = ""

    def weight(self, code: str) -> str:
        """The severities of one of the codes, for people."""
        if code in self.either:
            return f"{Severity.ERROR} or {Severity.WARNING}"
        return str(Severity.WARNING if code in self.warnings else Severity.ERROR)


@cache
def groups() -> tuple[Group, ...]:
    """All codes that are not rules, in the order of the data file."""
    data = parse_yaml((files("triton_fleet.rules") / FILE).read_text(encoding="utf-8"))
    return tuple(_group(**entry) for entry in data)


@cache
def other_codes() -> Mapping[str, str]:
    """The sentence of each code that is not a rule.

    Raises:
        ValueError: two groups have one code.
    """
    codes = dict[str, str]()
    for group in groups():
        for code, sentence in group.codes.items():
            if code in codes:
                raise ValueError(f"{FILE} has {code} twice")
            codes[code] = sentence
    return MappingProxyType(codes)


@cache
def other_names() -> Mapping[str, str]:
    """The name of each code that is not a rule."""
    return MappingProxyType({code: name for group in groups() for code, name in group.names.items()})


@cache
def allowable_codes() -> frozenset[str]:
    """The codes that are not rules and that a spec may allow itself, like a rule."""
    allowable = (group for group in groups() if group.allowable)
    return frozenset(code for group in allowable for code in group.codes if code not in group.needed)


def severity_of(code: str) -> Severity:
    """The severity of a code that is not a rule, unless the finding has its own."""
    warnings = {warning for group in groups() for warning in group.warnings}
    return Severity.WARNING if code in warnings else Severity.ERROR


def weight_of_other(code: str) -> str:
    """The severities of a code that is not a rule, for people."""
    return next(group.weight(code) for group in groups() if code in group.codes)


def instead_of_allowing(code: str) -> str:
    """What to do about a code that is not a rule and that no spec may allow itself."""
    group = next(group for group in groups() if code in group.codes)
    return group.instead or "remove it from `allow`, and correct what it reports"


def _group(
    about: str,
    codes: dict[str, str],
    *,
    allowable: bool = False,
    instead: str = "",
    **lists: Sequence[str],
) -> Group:
    split = {each.partition(" "): sentence for each, sentence in codes.items()}
    return Group(
        about,
        MappingProxyType({code: sentence for (code, _, _), sentence in split.items()}),
        MappingProxyType({code: name for code, _, name in split}),
        allowable=allowable,
        instead=instead,
        **{name: tuple(each) for name, each in lists.items()},
    )
