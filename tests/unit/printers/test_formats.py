"""Formats for machines: JSON for scripts, and GitHub's workflow commands."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.git_repository import GitRepository
from triton_fleet.findings import CannotRunError, Finding, Severity
from triton_fleet.printers.formats import Format, print_findings

UNKNOWN = Finding(code="FL110", message="unknown key", hint="did you mean `scaling`?", line=2, column=1)


def print_format(
    capsysbinary: pytest.CaptureFixture[bytes], format: Format, root: Path, *findings: Finding
) -> str:
    print_findings(findings, format, root)
    output = capsysbinary.readouterr()
    assert output.err == b""
    return output.out.decode()


def at(root: Path, finding: Finding, name: str = "model_specs/a.yaml", **more: Any) -> Finding:
    return Finding(**{**vars(finding), "file": root / name, **more})


def test_json_has_every_field_of_a_finding(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    driver = at(tmp_path, UNKNOWN, code="FL204", severity=Severity.WARNING)
    document = json.loads(print_format(capsysbinary, Format.JSON, tmp_path, at(tmp_path, UNKNOWN), driver))
    assert (document["version"], document["errors"], document["warnings"]) == (1, 1, 1)
    assert document["findings"][0] == {
        "code": "FL110",
        "rule": None,
        "name": "unknown-key",
        "severity": "error",
        "message": "unknown key",
        "hint": "did you mean `scaling`?",
        "file": "model_specs/a.yaml",
        "line": 2,
        "column": 1,
        "endpoints": [],
        "docs": "docs/rules.md#fl110",
    }
    assert document["findings"][1]["rule"] == document["findings"][1]["name"] == "missing-driver"
    assert document["findings"][1]["severity"] == "warning"


def test_json_says_null_of_what_is_unknown(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    bare = Finding(code="FL120", message="there is no endpoint 'x'")
    [finding] = json.loads(print_format(capsysbinary, Format.JSON, tmp_path, bare))["findings"]
    assert (finding["file"], finding["line"], finding["column"], finding["hint"]) == (None, None, None, "")


def test_json_keeps_the_order_of_the_findings(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    findings = [at(tmp_path, UNKNOWN, name) for name in ("b.yaml", "a.yaml", "c.yaml")]
    document = json.loads(print_format(capsysbinary, Format.JSON, tmp_path, *findings))
    assert [finding["file"] for finding in document["findings"]] == ["b.yaml", "a.yaml", "c.yaml"]


def test_json_and_sarif_say_that_nothing_was_found(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert json.loads(print_format(capsysbinary, Format.JSON, tmp_path))["findings"] == []
    assert json.loads(print_format(capsysbinary, Format.SARIF, tmp_path))["runs"][0]["results"] == []


@pytest.mark.parametrize("format", [Format.GITHUB, Format.HUMAN])
def test_without_findings_nothing_is_annotated(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], format: Format
) -> None:
    assert print_format(capsysbinary, format, tmp_path) == ""


def test_github_is_told_place_title_message_and_hint(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    driver = at(tmp_path, UNKNOWN, code="FL204", severity=Severity.WARNING)
    assert print_format(
        capsysbinary, Format.GITHUB, tmp_path, at(tmp_path, UNKNOWN), driver
    ).splitlines() == [
        "::error file=model_specs/a.yaml,line=2,col=1,title=unknown-key (FL110)"
        "::unknown key%0Ahint: did you mean `scaling`?",
        "::warning file=model_specs/a.yaml,line=2,col=1,title=missing-driver (FL204)"
        "::unknown key%0Ahint: did you mean `scaling`?",
    ]


def test_github_is_told_of_what_has_no_file(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    bare = Finding(code="FL120", message="there is no endpoint 'x'")
    assert print_format(capsysbinary, Format.GITHUB, tmp_path, bare) == (
        "::error title=unknown-environment-or-endpoint (FL120)::there is no endpoint 'x'\n"
    )


def test_no_message_or_file_name_ends_a_workflow_command_or_begins_another(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    hostile = at(tmp_path, UNKNOWN, "a,line=9::b%0A\n.yaml", message="100 %\r\n::stop-commands::x", hint="")
    assert print_format(capsysbinary, Format.GITHUB, tmp_path, hostile) == (
        "::error file=a%2Cline=9%3A%3Ab%250A%0A.yaml,line=2,col=1,title=unknown-key (FL110)"
        "::100 %25%0D%0A::stop-commands::x\n"
    )


@pytest.mark.parametrize("format", [Format.JSON, Format.SARIF, Format.GITHUB])
def test_every_document_is_utf_8_whatever_a_file_is_called(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], format: Format
) -> None:
    odd = at(tmp_path, UNKNOWN, os.fsdecode(b"\xff.yaml"), message="bad name \udcff, ü")
    assert "bad name ?, ü" in print_format(capsysbinary, format, tmp_path, odd)


class TestFleetBelowTheTopOfItsRepository:
    """GitHub knows files by their paths from the top; scripts get them from the fleet, as documented."""

    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        root = tmp_path / "serving" / "fleet"
        (root / "model_specs").mkdir(parents=True)
        GitRepository.around(tmp_path)
        return root

    def test_github_gets_paths_from_the_top(
        self, root: Path, capsysbinary: pytest.CaptureFixture[bytes]
    ) -> None:
        text = print_format(capsysbinary, Format.GITHUB, root, at(root, UNKNOWN))
        assert "file=serving/fleet/model_specs/a.yaml," in text

    def test_sarif_gets_paths_from_the_top_and_the_fleets_folder_for_what_has_no_file(
        self, root: Path, capsysbinary: pytest.CaptureFixture[bytes]
    ) -> None:
        document = json.loads(print_format(capsysbinary, Format.SARIF, root, at(root, UNKNOWN), UNKNOWN))
        places = [result["locations"][0]["physicalLocation"] for result in document["runs"][0]["results"]]
        assert [deployment["artifactLocation"]["uri"] for deployment in places] == [
            "serving/fleet/model_specs/a.yaml",
            "serving/fleet/model_specs",
        ]

    def test_json_gets_paths_from_the_fleet(
        self, root: Path, capsysbinary: pytest.CaptureFixture[bytes]
    ) -> None:
        [finding] = json.loads(print_format(capsysbinary, Format.JSON, root, at(root, UNKNOWN)))["findings"]
        assert finding["file"] == "model_specs/a.yaml"


@pytest.mark.parametrize("format", [Format.GITHUB, Format.SARIF])
def test_paths_are_not_guessed_where_git_refuses_to_name_the_top(
    tmp_path: Path,
    capsysbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
    format: Format,
) -> None:
    GitRepository.around(tmp_path)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    with pytest.raises(CannotRunError, match=r"safe\.directory"):
        print_format(capsysbinary, format, tmp_path, at(tmp_path, UNKNOWN))
