"""What codes are about, and which code a new rule gets."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from triton_fleet.catalog.data_file import parse_yaml

FILE = "themes.yaml"


@dataclass(frozen=True)
class Theme:
    """What some rules and other codes are about.

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

    def next_code(self, used: Collection[str]) -> str | None:
        """The code after the last used one, so that none is given twice; None where the blocks are full."""
        last = max((at for at, code in enumerate(self.codes) if code in used), default=-1)
        return self.codes[last + 1] if last + 1 < len(self.codes) else None


@cache
def themes() -> tuple[Theme, ...]:
    """All themes, in the order of the data file."""
    data = parse_yaml((files("triton_fleet.rules") / FILE).read_text(encoding="utf-8"))
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
    found = _by_code().get(code)
    if found is None:
        raise ValueError(f"{code} is of no theme in {FILE}: `fleet rules --next THEME` prints a code that is")
    return found


@cache
def _by_code() -> dict[str, Theme]:
    return {code: theme for theme in themes() for code in (*theme.codes, *theme.first_codes)}


def _codes(block: str) -> list[str]:
    """The codes of a block, such as FL500-FL519."""
    first, _, last = (each.removeprefix("FL") for each in block.partition("-"))
    return [f"FL{number}" for number in range(int(first), int(last) + 1)]
