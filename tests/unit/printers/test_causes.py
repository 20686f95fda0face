"""A cause that hits many endpoints is printed once with its count; what machines read stays complete."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fleet.check.run import all_findings
from fleet.findings import Finding, Severity
from fleet.printers import sarif
from fleet.printers.causes import causes
from fleet.printers.formats import ANNOTATIONS, as_github, as_json
from fleet.printers.human import show_findings
from fleet.printers.sarif import as_sarif
from fleet.spec.project import open_project
from fleet_folder import SPEC, FleetFolder


def missing_lock(root: Path, name: str, *, severity: Severity = Severity.WARNING) -> Finding:
    return Finding(
        code="FL301",
        message=f"there is no lock of {name!r} for 'dev'",
        hint=f"run `fleet lock --env dev {name}`",
        file=root / f"locks/dev/{name}.lock.yaml",
        severity=severity,
    )


def different(root: Path, number: int, severity: Severity = Severity.ERROR) -> Finding:
    return Finding(
        code="FL110",
        message=f"unknown key `k{number}`",
        file=root / "model_specs/a.yaml",
        line=number + 1,
        severity=severity,
    )


def printed(capsys: pytest.CaptureFixture[str], findings: list[Finding]) -> str:
    show_findings(findings)
    return capsys.readouterr().err


def test_a_mistake_in_a_profile_is_one_finding_with_all_its_endpoints(folder: FleetFolder) -> None:
    folder.write("profiles/gpu.yaml", "container: {thread_count: 0}\n")
    for name in ("one", "two", "three"):
        folder.spec("profile: gpu\n", name, base=SPEC.replace("endpoint: sentences", f"endpoint: {name}"))
    found = [each for each in all_findings(open_project(folder.root, "dev")) if each.code == "FL112"]
    assert [(each.file, each.line) for each in found] == [(folder.root / "profiles/gpu.yaml", 1)]
    assert found[0].endpoints == ("one", "three", "two")


def test_a_person_reads_how_many_endpoints_a_cause_hits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = tuple(f"e{number}" for number in range(40))
    finding = Finding(
        code="FL112", message="wrong", file=tmp_path / "profiles/gpu.yaml", line=1, endpoints=names
    )
    assert "  40 endpoints: e0, e1, e2, e3, e4 and 35 more\n" in printed(capsys, [finding])


def test_what_differs_in_the_endpoints_name_alone_is_printed_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shown = printed(capsys, [missing_lock(tmp_path, f"e{number}") for number in range(40)])
    assert shown.count("there is no lock of") == 1
    assert "the same in 39 more files: locks/dev/e1.lock.yaml, locks/dev/e2.lock.yaml, " in shown
    assert " and 34 more\n" in shown
    assert shown.endswith("0 errors, 40 warnings\n")


def test_three_files_are_printed_one_by_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, [missing_lock(tmp_path, name) for name in "abc"])
    assert shown.count("there is no lock of") == 3


def test_findings_of_one_file_are_never_one_cause(tmp_path: Path) -> None:
    assert len(causes([different(tmp_path, number) for number in range(40)])) == 40
    same = [Finding(code="FL110", message="x", file=tmp_path / "a.yaml", line=number) for number in range(9)]
    assert len(causes(same)) == 9


def test_another_severity_is_another_cause(tmp_path: Path) -> None:
    found = [missing_lock(tmp_path, f"e{number}") for number in range(5)]
    found += [missing_lock(tmp_path, f"f{number}", severity=Severity.ERROR) for number in range(5)]
    assert [len(each.others) for each in causes(found)] == [4, 4]


def test_json_has_each_finding(tmp_path: Path) -> None:
    found = [missing_lock(tmp_path, f"e{number}") for number in range(400)]
    assert len(json.loads(as_json(found, tmp_path))["findings"]) == 400


class TestGithub:
    def test_a_cause_is_one_annotation_with_all_its_places(self, tmp_path: Path) -> None:
        said = as_github([missing_lock(tmp_path, f"e{number}") for number in range(40)], tmp_path)
        assert said.count("::warning ") == 1
        assert all(f"locks/dev/e{number}.lock.yaml" in said for number in range(40))

    def test_beyond_what_github_shows_the_last_annotation_says_so_and_the_log_has_the_rest(
        self, tmp_path: Path
    ) -> None:
        found = [different(tmp_path, number) for number in range(25)]
        lines = as_github(found, tmp_path).split("\n")
        commands = [line for line in lines if line.startswith("::error")]
        assert len(commands) == ANNOTATIONS
        assert "16 more errors are in the log of this step" in commands[-1]
        begin = next(number for number, line in enumerate(lines) if line.startswith("::group::"))
        assert len(lines[begin + 1 : lines.index("::endgroup::")]) == 16
        assert all(f"`k{number}`" in "\n".join(lines) for number in range(25))

    def test_ten_of_each_severity_fit(self, tmp_path: Path) -> None:
        found = [different(tmp_path, n, severity) for severity in Severity for n in range(10)]
        assert "::group::" not in as_github(found, tmp_path)

    def test_no_line_of_the_log_is_a_command(self, tmp_path: Path) -> None:
        found = [different(tmp_path, number) for number in range(12)]
        found.append(
            Finding(code="FL110", message="x\n::add-mask::a\r::error::b", file=tmp_path / "z.yaml", line=9)
        )
        lines = as_github(found, tmp_path).split("\n")
        begin = next(number for number, line in enumerate(lines) if line.startswith("::group::"))
        assert not any("::" in line for line in lines[begin + 1 : lines.index("::endgroup::")])


class TestSarif:
    def test_it_has_each_finding_and_the_endpoints_of_a_shared_file(self, tmp_path: Path) -> None:
        shared = Finding(
            code="FL112", message="wrong", file=tmp_path / "profiles/a.yaml", line=1, endpoints=("b", "c")
        )
        found = [shared, *(missing_lock(tmp_path, f"e{number}") for number in range(400))]
        (run,) = json.loads(as_sarif(found, tmp_path))["runs"]
        assert len(run["results"]) == 401
        assert run["results"][0]["message"]["text"] == "wrong\n2 endpoints: b, c"
        assert run["invocations"] == [{"executionSuccessful": True}]

    def test_beyond_code_scannings_limit_errors_stay_and_the_rest_is_counted(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sarif, "MAX_RESULTS", 5)
        found = [different(tmp_path, n, Severity.WARNING) for n in range(6)]
        found += [different(tmp_path, n) for n in range(6, 9)]
        (run,) = json.loads(as_sarif(found, tmp_path))["runs"]
        assert [each["level"] for each in run["results"]] == ["error"] * 3 + ["warning"] * 2
        (notice,) = run["invocations"][0]["toolExecutionNotifications"]
        assert notice["message"]["text"].startswith("4 more findings are omitted")
