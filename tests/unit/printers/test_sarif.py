"""SARIF 2.1.0: what its schema requires, and what GitHub's code scanning requires beyond it."""

from __future__ import annotations

import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

from triton_fleet.findings import Finding, Severity
from triton_fleet.printers.sarif import as_sarif
from triton_fleet.rules.codes import other_codes
from triton_fleet.rules.names import name_of
from triton_fleet.rules.registry import rules

TEXT = "endpoint: a\nscalling: {}\n"


def finding(file: Path | None, line: int | None = None, column: int | None = None, **more: Any) -> Finding:
    return Finding(**{"code": "FL110", "message": "unknown key", **more}, file=file, line=line, column=column)


def run_of(root: Path, *findings: Finding) -> Any:
    document = json.loads(as_sarif(findings, root, root))
    assert document["version"] == "2.1.0"
    assert document["$schema"] == "https://json.schemastore.org/sarif-2.1.0.json"
    [run] = document["runs"]
    return run


def only_result(root: Path, finding: Finding) -> Any:
    [result] = run_of(root, finding)["results"]
    return result


def place_of(root: Path, finding: Finding) -> Any:
    [location] = only_result(root, finding)["locations"]
    return location["physicalLocation"]


def fingerprint(root: Path, finding: Finding) -> str:
    return str(only_result(root, finding)["partialFingerprints"]["primaryLocationLineHash"])


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    file = tmp_path / "model_specs" / "a b.yaml"
    file.parent.mkdir()
    file.write_text(TEXT)
    return file


def test_no_findings_are_a_document_with_an_empty_list(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    assert run["results"] == []
    assert run["tool"]["driver"]["name"] == "fleet"
    assert run["tool"]["driver"]["version"] == version("triton-fleet")
    assert run["columnKind"] in {"utf16CodeUnits", "unicodeCodePoints"}


def test_every_rule_and_code_is_described_whatever_was_found(spec: Path, tmp_path: Path) -> None:
    described_rules = run_of(tmp_path)["tool"]["driver"]["rules"]
    assert [described_rule["id"] for described_rule in described_rules] == [*rules(), *other_codes()]
    assert [described_rule["name"] for described_rule in described_rules] == [
        name_of(described_rule["id"]) for described_rule in described_rules
    ]
    assert described_rules == run_of(tmp_path, finding(spec, 2, 1))["tool"]["driver"]["rules"]
    for described_rule in described_rules:
        assert described_rule["defaultConfiguration"]["level"] in {"warning", "error"}
        for text in (
            described_rule["shortDescription"]["text"],
            described_rule["fullDescription"]["text"],
            described_rule["help"]["text"],
        ):
            assert text
        assert len(described_rule["fullDescription"]["text"]) <= 1024
        assert described_rule.get("helpUri", "https://").startswith("https://"), "it must be an absolute URI"


def test_a_rule_is_described_in_its_own_words(tmp_path: Path) -> None:
    rule = rules()["FL204"]
    [described_rule] = [rule for rule in run_of(tmp_path)["tool"]["driver"]["rules"] if rule["id"] == "FL204"]
    assert described_rule["name"] == rule.name
    assert described_rule["shortDescription"]["text"] == rule.summary
    assert rule.reason in described_rule["fullDescription"]["text"]
    assert described_rule["helpUri"] == rule.source
    assert "`fleet rules missing-driver`" in described_rule["help"]["text"]


@pytest.mark.parametrize("severity", list(Severity))
def test_a_result_names_its_rule_its_level_and_its_hint(
    spec: Path, tmp_path: Path, severity: Severity
) -> None:
    run = run_of(tmp_path, finding(spec, 2, 1, hint="did you mean `scaling`?", severity=severity))
    [result] = run["results"]
    assert result["ruleId"] == "FL110"
    assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "FL110"
    assert result["level"] == severity.value
    assert result["message"] == {"text": "unknown key\nhint: did you mean `scaling`?"}


def test_a_place_is_relative_to_the_root_with_the_region_of_the_key(spec: Path, tmp_path: Path) -> None:
    assert place_of(tmp_path, finding(spec, 2, 1)) == {
        "artifactLocation": {"uri": "model_specs/a%20b.yaml", "uriBaseId": "%SRCROOT%"},
        "region": {"startLine": 2, "startColumn": 1, "endColumn": 9},
    }
    assert run_of(tmp_path)["originalUriBaseIds"].keys() == {"%SRCROOT%"}


def test_a_relative_path_is_one_of_the_working_directory(
    spec: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(spec.parent)
    place = place_of(tmp_path, finding(Path(spec.name), 2, 1))
    assert place["artifactLocation"]["uri"] == "model_specs/a%20b.yaml"


def test_a_link_is_followed_since_code_scanning_does_not(spec: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.yaml"
    link.symlink_to(spec)
    place, own = place_of(tmp_path, finding(link, 2, 1)), place_of(tmp_path, finding(spec, 2, 1))
    assert place["artifactLocation"] == own["artifactLocation"]
    assert place["region"] == {"startLine": 2, "startColumn": 1}, "no content is read through a link"


def test_a_file_outside_of_the_root_is_absolute(spec: Path, tmp_path: Path) -> None:
    inner = tmp_path / "fleet"
    inner.mkdir()
    artifact = place_of(inner, finding(spec, 2, 1))["artifactLocation"]
    assert artifact == {"uri": f"file://{tmp_path}/model_specs/a%20b.yaml"}


def test_a_name_that_is_no_unicode_is_still_a_uri(tmp_path: Path) -> None:
    file = tmp_path / os.fsdecode(b"\xff#%.yaml")
    assert place_of(tmp_path, finding(file))["artifactLocation"]["uri"] == "%FF%23%25.yaml"


def test_a_whole_file_begins_at_its_first_line(spec: Path, tmp_path: Path) -> None:
    assert place_of(tmp_path, finding(spec))["region"] == {"startLine": 1, "startColumn": 1}


def test_a_finding_without_a_file_has_a_place_too(spec: Path, tmp_path: Path) -> None:
    assert place_of(tmp_path, finding(None, code="FL120"))["artifactLocation"]["uri"] == "model_specs"


def test_an_unchanged_finding_is_recognised_where_its_line_moves(spec: Path, tmp_path: Path) -> None:
    before = fingerprint(tmp_path, finding(spec, 2, 1))
    spec.write_text("# a comment\n" + TEXT.replace("scalling", "  scalling"))
    assert fingerprint(tmp_path, finding(spec, 3, 3, message="said in other words")) == before


def test_another_code_line_or_file_is_another_finding(spec: Path, tmp_path: Path) -> None:
    other_file = spec.with_name("other.yaml")
    other_file.write_text(TEXT)
    findings = [
        finding(spec, 2, 1),
        finding(spec, 1, 1),
        finding(spec, 2, 1, code="FL112"),
        finding(other_file, 2, 1),
        finding(spec, message="one"),
        finding(spec, message="another"),
    ]
    assert len({fingerprint(tmp_path, finding) for finding in findings}) == len(findings)


def test_the_fingerprint_of_a_secret_s_line_is_not_made_of_the_secret(spec: Path, tmp_path: Path) -> None:
    spec.write_text("TOKEN: one\n")
    before = fingerprint(tmp_path, finding(spec, 1, 1, confidential=True))
    spec.write_text("TOKEN: two\n")
    assert fingerprint(tmp_path, finding(spec, 1, 1, confidential=True)) == before


def test_findings_that_are_alike_are_told_apart(spec: Path, tmp_path: Path) -> None:
    results = run_of(tmp_path, finding(spec, 2, 1), finding(spec, 2, 1, message="again"))["results"]
    first, second = (result["partialFingerprints"]["primaryLocationLineHash"] for result in results)
    assert first.partition(":")[0] == second.partition(":")[0]
    assert (first[-2:], second[-2:]) == (":1", ":2")
