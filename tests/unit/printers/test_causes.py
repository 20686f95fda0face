"""A cause that hits many endpoints is printed once with its count; what machines read stays complete."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from tests.support.git_repository import GitRepository
from tests.support.made_findings import different, missing_lock
from triton_fleet.check.run import all_findings, checked_fleet
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.printers import sarif
from triton_fleet.printers.causes import causes
from triton_fleet.printers.formats import as_json
from triton_fleet.printers.github import as_github
from triton_fleet.printers.human import show_findings
from triton_fleet.printers.sarif import as_sarif
from triton_fleet.project.project import open_project


def print_findings(capsys: pytest.CaptureFixture[str], findings: list[Finding]) -> str:
    show_findings(findings)
    return capsys.readouterr().err


def test_a_mistake_in_a_profile_is_one_finding_with_all_its_endpoints(folder: FleetFolder) -> None:
    folder.write("profiles/gpu.yaml", "container: {thread_count: 0}\n")
    for name in ("one", "two", "three"):
        folder.spec("profile: gpu\n", name, base=SPEC.replace("endpoint: sentences", f"endpoint: {name}"))
    findings = [finding for finding in folder.check() if finding.code == "FL112"]
    assert [(finding.file, finding.line) for finding in findings] == [(folder.root / "profiles/gpu.yaml", 1)]
    assert findings[0].endpoints == ("one", "three", "two")


def test_a_person_reads_how_many_endpoints_a_cause_hits(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = tuple(f"e{number}" for number in range(40))
    finding = Finding(
        code="FL112", message="wrong", file=tmp_path / "profiles/gpu.yaml", line=1, endpoints=names
    )
    assert "  40 endpoints: e0, e1, e2, e3, e4 and 35 more\n" in print_findings(capsys, [finding])


def test_what_differs_in_the_endpoints_name_alone_is_printed_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = print_findings(capsys, [missing_lock(tmp_path, f"e{number}") for number in range(40)])
    assert text.count("there is no lock of") == 1
    assert "the same in 39 more files: locks/dev/e1.lock.yaml, locks/dev/e2.lock.yaml, " in text
    assert " and 34 more\n" in text
    assert text.endswith("0 errors, 40 warnings\n")


def test_three_files_are_printed_one_by_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = print_findings(capsys, [missing_lock(tmp_path, name) for name in "abc"])
    assert text.count("there is no lock of") == 3


def test_different_findings_of_one_file_are_never_one_cause(tmp_path: Path) -> None:
    assert len(causes([different(tmp_path, number) for number in range(40)])) == 40


def test_one_mistake_at_many_lines_of_a_file_is_printed_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "environments/dev.yaml"
    text = print_findings(
        capsys, [Finding(code="FL112", message="x", file=file, line=n) for n in range(1, 10)]
    )
    assert text.count("FL112") == 1
    assert "the same in 8 more places: environments/dev.yaml:2, environments/dev.yaml:3, " in text


def test_a_mistake_in_many_profiles_is_printed_with_all_its_places_and_endpoints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    findings = [
        Finding(
            code="FL112",
            message="wrong",
            file=tmp_path / f"profiles/p{profile}.yaml",
            line=3,
            endpoints=tuple(f"e{number}" for number in range(profile * 20, profile * 20 + 30)),
        )
        for profile in range(5)
    ]
    text = print_findings(capsys, findings)
    assert "the same in 4 more files: " in text
    assert "  110 endpoints: e0, e1, e2, e3, e4 and 105 more\n" in text
    github = as_github(findings, tmp_path)
    assert "%0Athe same in 4 more files: profiles/p1.yaml:3, profiles/p2.yaml:3, " in github
    assert "%0A110 endpoints: e0, e1, " in github
    assert github.endswith("e109")


class TestSharedRepository:
    """One repository of six endpoints, each with a lock of its own."""

    @pytest.fixture
    def many(self, folder: FleetFolder) -> FleetFolder:
        for number in range(5):
            name = f"e{number}"
            folder.spec("", name, base=SPEC.replace("endpoint: sentences", f"endpoint: {name}"))
        folder.lock()
        return folder

    def test_a_changed_file_is_one_finding_whose_remedy_names_its_endpoints(self, many: FleetFolder) -> None:
        many.write("other/embed/config.pbtxt", 'backend: "python"\n')
        many.write("other/embed/1/model.py", "class TritonPythonModel: x = 1\n")
        other_text = SPEC.replace("endpoint: sentences", "endpoint: other").replace(
            "../repository", "../other"
        )
        many.spec("", "other", base=other_text)
        many.lock()
        many.write("repository/embed/1/model.py", "class TritonPythonModel: x = 2\n")
        findings = [finding for finding in many.check() if finding.code == "FL306"]
        assert [(finding.message, finding.hint) for finding in findings] == [
            (
                "the file changed since it was locked",
                "run `fleet lock --env dev e0 e1 e2 e3 e4 sentences` and have the change reviewed",
            )
        ]
        assert findings[0].endpoints == ("e0", "e1", "e2", "e3", "e4", "sentences")

    def test_many_changed_files_of_one_endpoint_have_the_remedy_for_it_alone(
        self, folder: FleetFolder, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder.lock()
        for number in range(5):
            folder.write(f"repository/embed/1/{number}.txt", "")
        text = print_findings(capsys, folder.check())
        assert "the file was added since it was locked" in text
        assert "  hint: run `fleet lock --env dev sentences` and have the change reviewed\n" in text

    def test_a_deploy_is_refused_with_one_finding_too(self, many: FleetFolder) -> None:
        many.write("repository/embed/1/model.py", "class TritonPythonModel: x = 2\n")
        with pytest.raises(FindingsError) as refusal:
            checked_fleet(open_project(many.root, "dev"))
        assert [finding.code for finding in refusal.value.findings].count("FL306") == 1

    def test_a_missing_file_is_one_finding(self, many: FleetFolder) -> None:
        many.write("repository/embed/1/weights.bin", "x")
        many.lock()
        many.write(".gitignore", "*.bin\n")
        GitRepository.around(many.root)
        (many.root / "repository/embed/1/weights.bin").unlink()
        findings = [finding for finding in many.check() if finding.code == "FL840"]
        assert [len(finding.endpoints) for finding in findings] == [6]

    @pytest.mark.parametrize(
        ("settings", "command"),
        [("", "fleet lock --env dev"), ("promoted_from: staging\n", "fleet promote --from staging --to dev")],
    )
    @pytest.mark.parametrize(("count", "is_for_all"), [(5, False), (10, False), (11, True)])
    def test_the_remedy_of_missing_locks_names_their_endpoints_up_to_ten_and_is_else_for_all(
        self,
        many: FleetFolder,
        capsys: pytest.CaptureFixture[str],
        settings: str,
        command: str,
        count: int,
        is_for_all: bool,
    ) -> None:
        many.environment(name="staging")
        many.environment(settings)
        names = [f"e{number}" for number in range(count)]
        for name in names:
            spec = SPEC.replace("endpoint: sentences", f"endpoint: {name}")
            many.spec("", name, base=spec)
            many.write(f"locks/dev/{name}.spec.yaml", spec.replace("../repo", "../../repo"))
            (many.root / f"locks/dev/{name}.lock.yaml").unlink(missing_ok=True)
        text = print_findings(capsys, all_findings(open_project(many.root, "dev", names)))
        assert text.count("FL301") == 1
        whole_project = " '*'" if settings else ""
        named_text = "".join(f" {name}" for name in sorted(names))
        assert f"`{command}{whole_project if is_for_all else named_text}`\n" in text


def test_another_severity_is_another_cause(tmp_path: Path) -> None:
    findings = [missing_lock(tmp_path, f"e{number}") for number in range(5)]
    findings += [missing_lock(tmp_path, f"f{number}", severity=Severity.ERROR) for number in range(5)]
    assert [len(cause.repeats) for cause in causes(findings)] == [4, 4]


def test_json_has_each_finding(tmp_path: Path) -> None:
    findings = [missing_lock(tmp_path, f"e{number}") for number in range(400)]
    assert len(json.loads(as_json(findings, tmp_path))["findings"]) == 400


class TestSarif:
    def test_it_has_each_finding_and_the_endpoints_of_a_shared_file(self, tmp_path: Path) -> None:
        shared_finding = Finding(
            code="FL112", message="wrong", file=tmp_path / "profiles/a.yaml", line=1, endpoints=("b", "c")
        )
        findings = [shared_finding, *(missing_lock(tmp_path, f"e{number}") for number in range(400))]
        (run,) = json.loads(as_sarif(findings, tmp_path, tmp_path))["runs"]
        assert len(run["results"]) == 401
        assert run["results"][0]["message"]["text"] == "wrong\n2 endpoints: b, c"
        assert run["invocations"] == [{"executionSuccessful": True}]

    def test_beyond_code_scannings_limit_errors_stay_and_the_rest_is_counted(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sarif, "MAX_RESULTS", 5)
        findings = [different(tmp_path, n, Severity.WARNING) for n in range(6)]
        findings += [different(tmp_path, n) for n in range(6, 9)]
        (run,) = json.loads(as_sarif(findings, tmp_path, tmp_path))["runs"]
        assert [result["level"] for result in run["results"]] == ["error"] * 3 + ["warning"] * 2
        (notice,) = run["invocations"][0]["toolExecutionNotifications"]
        assert notice["message"]["text"].startswith("4 more findings are omitted")
