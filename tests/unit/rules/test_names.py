"""Names of rules and other codes: one grammar, no name twice, and each where it is shown is known."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from triton_fleet.findings import Severity
from triton_fleet.rules.codes import other_codes
from triton_fleet.rules.names import (
    allowed_codes,
    code_of,
    codes_by_name,
    display_name,
    finding_prefix,
    name_of,
)
from triton_fleet.rules.registry import rules

CODES = [*rules(), *other_codes()]
KEBAB = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
SENTENCE = re.compile(r"(^|-)(is|are|that|which|not|no)(-|$)")
"""Words of a sentence or a denial, which no noun that is read after "allow" needs."""
ALLOW_PATTERN = re.compile(r"allow: ?\{+([^}]*)\}")
FIXTURE = re.compile(r"allow:\n  ([a-z0-9-]+): \"")


@pytest.mark.parametrize("code", CODES)
def test_a_name_is_a_noun_for_what_is_found(code: str) -> None:
    name = name_of(code)
    assert KEBAB.fullmatch(name)
    assert not SENTENCE.search(name)
    assert "-" in name, "one word says too little, and `fleet rules fl7` asks for codes"


def test_no_two_codes_have_one_name() -> None:
    assert sorted(codes_by_name().values()) == sorted(CODES)


def test_one_name_of_two_codes_is_refused_with_both(monkeypatch: pytest.MonkeyPatch) -> None:
    other_namespace = SimpleNamespace(name=name_of("FL110"))
    monkeypatch.setattr("triton_fleet.rules.registry.rules", lambda: {"FL998": other_namespace})
    with pytest.raises(ValueError, match="unknown-key is the name of FL998 and of FL110"):
        codes_by_name.__wrapped__()


def test_a_finding_begins_with_its_severity_its_name_and_its_code() -> None:
    assert finding_prefix(Severity.ERROR, "FL204") == "error[missing-driver] FL204"
    assert display_name("FL204") == "missing-driver (FL204)"


def test_what_is_neither_a_rule_nor_another_code_is_shown_as_it_is() -> None:
    assert finding_prefix(Severity.WARNING, "FL000") == "warning FL000"
    assert (display_name("FL000"), name_of("FL000"), code_of("FL000")) == ("FL000", "", "FL000")


def test_a_spec_allows_itself_codes_by_their_names_and_by_themselves() -> None:
    assert allowed_codes(["missing-driver", "FL425", "nothing"]) == {"FL204", "FL425", "nothing"}


def test_every_name_that_a_hint_or_a_page_would_have_allowed_is_known(root: Path) -> None:
    files = [*(root / "triton_fleet").rglob("*.py"), *(root / "docs").rglob("*.md"), root / "README.md"]
    texts = {
        entry.partition(":")[0].strip()
        for file in files
        for text in [file.read_text()]
        for entries in [*ALLOW_PATTERN.findall(text), *FIXTURE.findall(text)]
        for entry in entries.split(", ")
    }
    words = {word for word in texts if KEBAB.fullmatch(word)}
    assert len(words) > 5
    assert words <= set(codes_by_name())
    assert not {word for word in texts if re.fullmatch(r"FL\d{3}", word)}, "names are shown, not codes"
