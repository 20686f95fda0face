"""Themes of codes: each code has one, and a new one is taken from its theme's block."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from triton_fleet.rules.codes import Theme, other_codes, theme_of, themes
from triton_fleet.rules.registry import rules

CODES = [*rules(), *other_codes()]
OPEN = 500
"""Codes from here on are given away by theme."""


def number(code: str) -> int:
    return int(code.removeprefix("FL"))


@pytest.mark.parametrize("code", CODES)
def test_a_code_is_in_a_block_of_its_theme_or_older_than_the_themes(code: str) -> None:
    theme = theme_of(code)
    assert code in (theme.codes if number(code) >= OPEN else theme.first_codes)


def test_no_two_themes_share_a_name_or_a_code() -> None:
    counts = Counter(code for theme in themes() for code in (*theme.codes, *theme.first_codes))
    assert [code for code, times in counts.items() if times > 1] == []
    assert len({theme.name for theme in themes()}) == len(themes())


def test_blocks_begin_at_fl500_and_first_codes_are_below_it_and_in_use() -> None:
    for theme in themes():
        assert all(re.fullmatch(r"FL[5-9]\d\d", code) for code in theme.codes), theme.name
        assert all(number(code) < OPEN for code in theme.first_codes), theme.name
        assert set(theme.first_codes) <= set(CODES), theme.name


def test_every_theme_has_a_free_code() -> None:
    for theme in themes():
        free = theme.next_code(CODES)
        assert free is not None
        assert free not in CODES
        assert theme_of(free) == theme


def test_a_code_that_is_not_in_a_block_has_no_theme() -> None:
    with pytest.raises(ValueError, match="FL999 is of no theme in themes.yaml: `fleet rules --next THEME`"):
        theme_of("FL999")


class TestNextCode:
    THEME = Theme("own", "A theme", ("FL510", "FL511", "FL512", "FL600"), ())

    @pytest.mark.parametrize(
        ("used_lines", "free"),
        [
            ([], "FL510"),
            (["FL510"], "FL511"),
            (["FL511"], "FL512"),
            (["FL204", "FL510", "FL511", "FL512"], "FL600"),
            (["FL600"], None),
        ],
    )
    def test_it_follows_the_last_used_one_so_that_a_code_that_is_gone_stays_gone(
        self, used_lines: list[str], free: str | None
    ) -> None:
        assert self.THEME.next_code(used_lines) == free
