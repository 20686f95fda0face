"""docs/rules.md and `fleet rules`: every code that can be found is explained, and no other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from triton_fleet.catalog.symptoms import symptoms
from triton_fleet.cli.rules import rules as command
from triton_fleet.context.context import EndpointContext
from triton_fleet.findings import CannotRunError, FindingsError, Severity
from triton_fleet.rules.codes import Theme, groups, other_codes, themes
from triton_fleet.rules.docs import rules_pages, said_of
from triton_fleet.rules.example import examples
from triton_fleet.rules.registry import rules
from triton_fleet.rules.rule import DOCS, Problem, Rule, rule

CODE = re.compile(r'"(FL\d{3})"')
ANCHOR = re.compile(r'<a id="([^"]+)"></a>')
APP = typer.Typer()
APP.command()(command)
LINK = re.compile(r"\]\(rules/(\w+)\.md#([^)]+)\)")


@rule("FL529", Severity.WARNING, source="docs/artifacts.md", is_needed=True)
def rule_of_a_test(endpoint: EndpointContext) -> Iterator[Problem]:
    """This summary is a test's.

    And this is why.
    """
    yield Problem(("triton",), f"message about {endpoint.spec.triton}", "a hint")


@pytest.fixture(scope="module")
def pages() -> Mapping[str, str]:
    return rules_pages(rules(), examples())


@pytest.fixture(scope="module")
def index(pages: Mapping[str, str]) -> str:
    return pages[DOCS]


@pytest.fixture(scope="module")
def page(pages: Mapping[str, str]) -> str:
    """The pages of all themes, one after another."""
    return "\n".join(text for path, text in pages.items() if path != DOCS)


def section(page: str, code: str) -> str:
    return page.partition(f'<a id="{code.lower()}"></a>\n')[2].partition("<a id=")[0]


def test_every_code_that_is_raised_is_a_rule_or_listed_and_the_other_way_round(root: Path) -> None:
    files = [
        file for text in ("constructs", "triton_fleet", "stacks") for file in (root / text).rglob("*.py")
    ]
    codes = {code for file in files for code in CODE.findall(file.read_text())}
    codes |= {code for symptom in symptoms() for code in symptom.codes}
    assert codes == {*rules(), *other_codes()}


def test_no_code_is_listed_twice_or_as_a_rule_as_well() -> None:
    codes = [code for group in groups() for code in group.codes]
    assert len(codes) == len(set(codes))
    assert not set(codes) & set(rules())


def test_every_code_that_only_warns_is_listed() -> None:
    assert [group.about for group in groups() if not set(group.warnings) <= set(group.codes)] == []


def test_each_listed_code_is_told_in_one_sentence() -> None:
    for code, said_code in other_codes().items():
        assert re.fullmatch(r"[A-Z`][^.]*(\.[^ ][^.]*)*\.", said_code), f"{code}: {said_code}"


def test_every_code_has_an_anchor_in_the_index_and_every_rule_one_in_the_page_of_its_theme(
    pages: Mapping[str, str], index: str
) -> None:
    assert sorted(ANCHOR.findall(index)) == sorted(code.lower() for code in {*rules(), *other_codes()})
    assert LINK.findall(index) == [(rule.theme.name, rule.code.lower()) for rule in by_theme()]
    for member in rules().values():
        assert member.code.lower() in ANCHOR.findall(pages[f"docs/rules/{member.theme.name}.md"])


def by_theme() -> list[Rule]:
    return [rule for theme in themes() for rule in rules().values() if rule.theme == theme]


def test_a_rule_is_told_with_what_it_says_of_its_example(page: str) -> None:
    told_section, example = section(page, "FL204"), examples()["FL204"]
    [result] = example.wrong.findings(rules()["FL204"])
    assert "## missing-driver (FL204)\n" in told_section
    for part in (
        rules()["FL204"].summary,
        rules()["FL204"].reason,
        f"Wrong:\n\n```yaml\n{example.wrong.as_yaml}\n```",
        f"`fleet check` reports:\n\n```text\nerror[missing-driver] FL204: {result.message}\n  hint: {result.hint}\n```",
        f"Right:\n\n```yaml\n{example.right.as_yaml}\n```",
        f"Source: <{rules()['FL204'].source}>",
    ):
        assert part in told_section


def test_a_rule_without_an_example_is_told_without() -> None:
    told_section = section(rules_pages({"FL529": rule_of_a_test}, {})["docs/rules/image.md"], "FL529")
    assert told_section.startswith(
        "\n## rule-of-a-test (FL529)\n\n**warning, needed**: This summary is a test's.\n"
    )
    assert "And this is why." in told_section
    assert "```" not in told_section
    assert "Source: [docs/artifacts.md](../artifacts.md)" in told_section


def test_what_an_example_is_told_is_computed() -> None:
    assert list(said_of(examples()["FL204"].right, rule_of_a_test)) == [
        f"warning FL529: message about {examples()['FL204'].right.spec['triton']}",
        "  hint: a hint",
    ]


def test_the_index_has_a_table_for_each_theme(index: str) -> None:
    own = rules_pages({"FL529": rule_of_a_test}, {})[DOCS]
    headings = re.findall(r"^## (.+)$", own, re.MULTILINE)
    assert headings == ["The container image and the host's driver (`image`)", "Other codes"]
    headings = re.findall(r"^## (.+)$", index, re.MULTILINE)
    assert len(headings) > 5
    names = dict.fromkeys(f"{rule.theme.about} (`{rule.theme.name}`)" for rule in by_theme())
    assert headings == [*names, "Other codes"]


def test_every_link_of_the_pages_leads_to_a_file_that_exists(pages: Mapping[str, str], root: Path) -> None:
    for path, text in pages.items():
        targets = set(re.findall(r"\]\(([^)#]+)", text)) - set(re.findall(r"\]\((https://[^)#]+)", text))
        assert [target for target in targets if not ((root / path).parent / target).is_file()] == []


def listed_rules(*arguments: str) -> str:
    result = CliRunner().invoke(APP, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


def as_json(*arguments: str) -> Sequence[Any]:
    document: Sequence[Any] = json.loads(listed_rules("--format", "json", *arguments))
    return document


def test_the_command_lists_each_rule_in_one_line() -> None:
    lines = listed_rules().splitlines()
    assert lines[0].split() == ["name", "code", "theme", "severity", "takes", "summary"]
    assert [line.split()[:4] for line in lines[1:-2]] == [
        [rule.name, rule.code, rule.theme.name, rule.severity.value] for rule in rules().values()
    ]


def test_the_list_the_explanation_and_the_page_say_what_a_rule_takes(page: str) -> None:
    words = {"FL254": "a model", "FL251": "the models of a repository on an instance", "FL975": "an image"}
    words |= {"FL204": "a container on an instance", "FL203": "an instance type", "FL272": "an instance pool"}
    words |= {"FL214": "an endpoint", "FL223": "a variant of an endpoint"}
    for code, takes in words.items():
        assert f"  {takes}  " in next(line for line in listed_rules().splitlines() if f" {code} " in line)
        assert f"\ntakes:  {takes}\n" in listed_rules(code)
        assert as_json(code)[0]["takes"] == takes
        assert f"\nTakes: {takes}. Source: " in section(page, code)


@pytest.mark.parametrize("asked_for", ["missing-driver", "Missing-Driver", "FL204", "fl204"])
def test_the_command_explains_a_rule_with_its_example(asked_for: str) -> None:
    text, requested_rule = listed_rules(asked_for), rules()["FL204"]
    assert text.startswith("missing-driver (FL204): error\n")
    for part in (
        " ".join(requested_rule.reason.split()),
        "instance: {type: ml.g7e.2xlarge}",
        "error[missing-driver] FL204: Triton 25.04",
        requested_rule.source,
    ):
        assert part in text


def test_the_command_explains_other_codes_too() -> None:
    assert listed_rules("FL110", "unused-allow") == (
        f"unknown-key (FL110): error\n{other_codes()['FL110']}\n\n"
        f"unused-allow (FL130): warning\n{other_codes()['FL130']}\n\n"
    )


def test_the_beginning_of_codes_lists_all_that_begin_so() -> None:
    lines = listed_rules("FL7", "fl31").splitlines()
    known_rules = sorted([*rules(), *other_codes()])
    expected_codes = [code for start in ("FL7", "FL31") for code in known_rules if code.startswith(start)]
    assert [line.split()[1] for line in lines[1:-2]] == expected_codes
    assert {"FL712", "FL311"} < set(expected_codes)
    assert [entry["code"] for entry in as_json("FL7", "FL31")] == expected_codes


def test_the_command_prints_json() -> None:
    assert [entry["code"] for entry in as_json()] == list(rules())
    [text] = as_json("FL204")
    assert text["name"] == rules()["FL204"].name
    assert text["example"]["wrong"] == examples()["FL204"].wrong.as_yaml
    assert as_json("FL110") == [
        {
            "code": "FL110",
            "name": "unknown-key",
            "theme": "spec",
            "severity": "error",
            "summary": other_codes()["FL110"],
            "docs": "docs/rules.md#fl110",
        }
    ]


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("FL2O4", "did you mean `FL"),
        ("drivers", "`fleet rules` lists them"),
        ("missing-drivers", "did you mean `missing-driver`?"),
    ],
)
def test_an_unknown_word_is_refused_with_what_was_meant(word: str, hint: str) -> None:
    with pytest.raises(FindingsError) as refusal:
        CliRunner().invoke(APP, [word], catch_exceptions=False)
    [finding] = refusal.value.findings
    assert finding.code == "FL132"
    assert repr(word) in finding.message
    assert finding.hint.startswith(hint)


def test_a_theme_lists_its_rules_and_other_codes() -> None:
    assert {entry["theme"] for entry in as_json("--theme", "image")} == {"image"}
    codes = [entry["code"] for entry in as_json("--theme", "image")]
    assert {"FL204", "FL211"} < set(codes)
    assert [line.split()[1] for line in listed_rules("--theme", "image").splitlines()[1:-2]] == codes


def test_the_next_free_code_of_a_theme_is_printed_alone() -> None:
    assert listed_rules("--next", "image") == "FL529\n"
    assert listed_rules("--next", "doctor") == "FL663\n", "the blocks begin with codes that are in use"


@pytest.mark.parametrize("option", ["--next", "--theme"])
def test_an_unknown_theme_is_refused_with_the_list(option: str) -> None:
    with pytest.raises(FindingsError) as refusal:
        CliRunner().invoke(APP, [option, "imagine"], catch_exceptions=False)
    [finding] = refusal.value.findings
    assert (finding.code, finding.message) == ("FL132", "theme 'imagine' does not exist")
    assert finding.hint.startswith("did you mean `image`?")
    assert ", ".join(sorted(theme.name for theme in themes())) in finding.hint


def test_names_a_theme_and_the_next_code_are_not_asked_for_at_once() -> None:
    result = CliRunner().invoke(APP, ["--next", "image", "FL204"])
    assert result.exit_code == 2
    assert "only one of names" in result.output


def test_a_theme_whose_blocks_are_full_has_no_next_code(monkeypatch: pytest.MonkeyPatch) -> None:
    full = Theme("full", "A theme", ("FL501",), ())
    monkeypatch.setattr("triton_fleet.cli.rules.themes", lambda: (full,))
    with pytest.raises(CannotRunError, match="the blocks of the theme 'full' are full"):
        CliRunner().invoke(APP, ["--next", "full"], catch_exceptions=False)
