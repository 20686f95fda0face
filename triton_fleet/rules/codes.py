"""Codes of findings: their themes, and the texts of those without a rule."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType

from triton_fleet.catalog.data_file import parse_yaml
from triton_fleet.findings import Severity

THEMES_FILE = "themes.yaml"


@dataclass(frozen=True)
class Theme:
    """A subject of some rules and other codes.

    Attributes:
        name: One word, such as "scaling".
        about: The heading of its rules.
        codes: All codes of its blocks, in the order in which they are given away.
        first_codes: Those below FL500, which are older than the themes.
    """

    name: str
    about: str
    codes: tuple[str, ...]
    first_codes: tuple[str, ...]

    def next_code(self, used_codes: Collection[str]) -> str | None:
        """The code after the last used one, so that none is given twice; None where the blocks are full."""
        last = max((at for at, code in enumerate(self.codes) if code in used_codes), default=-1)
        return self.codes[last + 1] if last + 1 < len(self.codes) else None


@cache
def themes() -> tuple[Theme, ...]:
    """All themes, in the order of the data file."""
    data = parse_yaml((files("triton_fleet.rules") / THEMES_FILE).read_text(encoding="utf-8"))
    return tuple(
        Theme(
            name=entry["theme"],
            about=entry["about"],
            codes=tuple(code for block in entry["blocks"] for code in _codes(block)),
            first_codes=tuple(entry.get("first_codes", ())),
        )
        for entry in data
    )


def theme_of(code: str) -> Theme:
    """The theme that a code belongs to.

    Raises:
        ValueError: no theme has the code.
    """
    theme = _by_code().get(code)
    if theme is None:
        raise ValueError(
            f"{code} is of no theme in {THEMES_FILE}: `fleet rules --next THEME` prints a code that is"
        )
    return theme


@cache
def _by_code() -> dict[str, Theme]:
    return {code: theme for theme in themes() for code in (*theme.codes, *theme.first_codes)}


def _codes(block: str) -> list[str]:
    """The codes of a block, such as FL500-FL519."""
    first, _, last = (end.removeprefix("FL") for end in block.partition("-"))
    return [f"FL{number}" for number in range(int(first), int(last) + 1)]


CODES_FILE = "other_codes.yaml"


@dataclass(frozen=True)
class Group:
    """Codes that are about one thing, each with a sentence.

    Attributes:
        about: What they are about.
        codes: Their sentences.
        names: Their names.
        warnings: Those that only warn.
        either_codes: Those that are errors where the container surely fails, and warnings where it may not.
        allowable: Whether a spec may allow itself the codes of the group, except the `needed_codes`.
        needed_codes: Those that it may not.
        instead: What to do in place of allowing one.
    """

    about: str
    codes: Mapping[str, str]
    names: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    either_codes: tuple[str, ...] = ()
    allowable: bool = False
    needed_codes: tuple[str, ...] = ()
    instead: str = ""

    def weight(self, code: str) -> str:
        """The severities of one of the codes, for people."""
        if code in self.either_codes:
            return f"{Severity.ERROR} or {Severity.WARNING}"
        return str(Severity.WARNING if code in self.warnings else Severity.ERROR)


@cache
def groups() -> tuple[Group, ...]:
    """All codes that are not rules, in the order of the data file."""
    data = parse_yaml((files("triton_fleet.rules") / CODES_FILE).read_text(encoding="utf-8"))
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
                raise ValueError(f"{CODES_FILE} has {code} twice")
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
    return frozenset(code for group in allowable for code in group.codes if code not in group.needed_codes)


def severity_of(code: str) -> Severity:
    """The severity of a code that is not a rule, unless the finding has its own."""
    warnings = {warning for group in groups() for warning in group.warnings}
    return Severity.WARNING if code in warnings else Severity.ERROR


def code_weight(code: str) -> str:
    """The severities of a code that is not a rule, for people."""
    return next(group.weight(code) for group in groups() if code in group.codes)


def allowance_advice(code: str) -> str:
    """Advice for a code that is not a rule and that no spec may allow itself."""
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
    split = {word.partition(" "): sentence for word, sentence in codes.items()}
    return Group(
        about,
        MappingProxyType({code: sentence for (code, _, _), sentence in split.items()}),
        MappingProxyType({code: name for code, _, name in split}),
        allowable=allowable,
        instead=instead,
        **{name: tuple(word) for name, word in lists.items()},
    )
