"""Who checks by policies: `fleet check`, `fleet deploy` and `fleet new` do; synth, which has no clock, does not."""

from __future__ import annotations

from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from tests.support.fleet_folder import SPEC
from tests.support.new_specs import NewSpecs
from tests.support.policy_fleet import TODAY, PolicyFleet
from triton_fleet.check.run import all_findings, checked_fleet
from triton_fleet.cli import deploy
from triton_fleet.cli.arguments import policy_day
from triton_fleet.cli.commands import app
from triton_fleet.findings import FindingsError, Severity
from triton_fleet.project.project import open_project

MANY = "scaling: {min: 1, max: 9, gpu_utilization: 60}\n"
EXCEPTION = "exceptions:\n  - {statement: affordable, endpoints: '*', reason: a test, until: 2027-03-31}\n"


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, catch_exceptions=False)


@pytest.fixture
def refused_fleet(fleet: PolicyFleet, monkeypatch: pytest.MonkeyPatch) -> PolicyFleet:
    """A locked endpoint with more instances than a policy allows, in the working directory."""
    fleet.folder.lock()
    fleet.spec(MANY)
    fleet.policy("max_instances: 2")
    monkeypatch.chdir(fleet.folder.root)
    return fleet


class TestCheck:
    def test_what_a_policy_refuses_is_an_error(self, refused_fleet: PolicyFleet) -> None:
        result = run("check", "--env", "dev")
        assert result.exit_code == 1
        assert (
            "error[too-many-instances] FL953: `scaling.max` is 9; policies/platform.yaml:5" in result.output
        )

    @pytest.mark.parametrize(("day", "exit_code"), [("2027-03-31", 0), ("2027-04-01", 1)])
    def test_the_day_can_be_another_one(self, refused_fleet: PolicyFleet, day: str, exit_code: int) -> None:
        refused_fleet.policy("max_instances: 2", EXCEPTION)
        assert run("check", "--env", "dev", "--today", day).exit_code == exit_code

    @pytest.mark.parametrize("day", ["tomorrow", "2027-3-1", "2027-02-30", "20270301", ""])
    def test_another_form_of_the_day_is_refused_with_the_form_to_write(
        self, refused_fleet: PolicyFleet, day: str
    ) -> None:
        result = run("check", "--env", "dev", "--today", day)
        assert result.exit_code == 2
        assert "write a day as `2027-03-31`" in " ".join(result.output.replace("│", " ").split())

    def test_a_day_is_refused_for_model_repositories_alone(self, refused_fleet: PolicyFleet) -> None:
        result = run("check", "--today", "2027-03-01", "repository/config.pbtxt")
        assert result.exit_code == 2
        assert "--today" in result.output

    def test_allow_names_the_way_to_an_exception(self, refused_fleet: PolicyFleet) -> None:
        refused_fleet.spec(f"{MANY}allow: {{too-many-instances: we want to}}\n")
        findings = all_findings(open_project(refused_fleet.folder.root, "dev"), today=TODAY)
        [answer] = [finding for finding in findings if finding.code == "FL131"]
        assert answer.message == "too-many-instances cannot be allowed in a spec: it is not a rule"
        assert answer.hint == "ask the policy's owner for an exception: `fleet docs teams`"

    def test_a_warning_of_a_policy_fails_a_strict_check(self, refused_fleet: PolicyFleet) -> None:
        refused_fleet.policy("max_instances: 2", EXCEPTION)
        assert run("check", "--env", "dev", "--strict", "--today", "2027-03-31").exit_code == 1

    def test_by_default_it_is_today_in_utc(self) -> None:
        assert abs(policy_day() - datetime.now(UTC).date()).days <= 1

    def test_a_spec_that_lies_elsewhere_is_checked_too(
        self, refused_fleet: PolicyFleet, tmp_path: Path
    ) -> None:
        draft = tmp_path / "draft.yaml"
        text = SPEC.replace("../repository", str(refused_fleet.folder.root / "repository"))
        draft.write_text(text.replace("endpoint: sentences", "endpoint: other") + MANY)
        findings = all_findings(
            open_project(refused_fleet.folder.root, "dev", ["sentences"]), [draft], today=TODAY
        )
        assert {finding.file for finding in findings if finding.code == "FL953"} == {
            refused_fleet.folder.root / "model_specs/sentences.yaml",
            draft,
        }

    def test_the_path_of_a_policy_stands_for_all_endpoints(self, refused_fleet: PolicyFleet) -> None:
        assert "FL953" in run("check", "--env", "dev", "policies/platform.yaml").output

    def test_a_spec_with_mistakes_does_not_hide_what_policies_refuse_of_others(
        self, refused_fleet: PolicyFleet
    ) -> None:
        refused_fleet.folder.write("model_specs/wrong.yaml", "endpoint: wrong\ntritn: 1\n")
        findings = all_findings(open_project(refused_fleet.folder.root, "dev"), today=TODAY)
        assert {"FL110", "FL953"} <= {finding.code for finding in findings}


class TestDeploy:
    @pytest.mark.parametrize("options", [(), ("--locked",)])
    def test_it_refuses_before_anything_is_done(
        self, refused_fleet: PolicyFleet, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
    ) -> None:
        monkeypatch.setattr(deploy, "connect", lambda *_: pytest.fail("it asked for the account"))
        with pytest.raises(FindingsError) as error:
            run("deploy", "--env", "dev", *options)
        assert [finding.code for finding in error.value.findings] == ["FL953"]

    def test_an_exception_lets_it_pass_and_its_end_is_a_warning(self, refused_fleet: PolicyFleet) -> None:
        refused_fleet.policy("max_instances: 2", EXCEPTION)
        fleet = checked_fleet(open_project(refused_fleet.folder.root, "dev"), today=date(2027, 3, 31))
        assert [(warning.code, warning.severity) for warning in fleet.warnings] == [
            ("FL992", Severity.WARNING)
        ]
        with pytest.raises(FindingsError):
            checked_fleet(open_project(refused_fleet.folder.root, "dev"), today=date(2027, 4, 1))

    def test_mistakes_and_refusals_are_reported_together(self, refused_fleet: PolicyFleet) -> None:
        refused_fleet.spec(f"{MANY}allow: {{FL999: a test}}\n")
        with pytest.raises(FindingsError) as error:
            checked_fleet(open_project(refused_fleet.folder.root, "dev"), today=TODAY)
        assert [finding.code for finding in error.value.findings] == ["FL953", "FL131"]

    def test_a_policy_that_cannot_be_read_is_no_permission(self, refused_fleet: PolicyFleet) -> None:
        refused_fleet.folder.write("policies/platform.yaml", "policy: platform\n")
        with pytest.raises(FindingsError) as error:
            checked_fleet(open_project(refused_fleet.folder.root, "dev"), today=TODAY)
        assert {finding.code for finding in error.value.findings} == {"FL111"}

    def test_the_endpoints_that_are_deployed_are_checked_alone(self, refused_fleet: PolicyFleet) -> None:
        refused_fleet.spec(name="other")
        refused_fleet.folder.lock()
        assert (
            checked_fleet(open_project(refused_fleet.folder.root, "dev", ["other"]), today=TODAY).warnings
            == ()
        )


def test_synth_does_not_check(refused_fleet: PolicyFleet) -> None:
    assert refused_fleet.folder.resolve().scaling is not None


def test_a_new_spec_is_told_what_defaults_of_an_environment_break_and_nothing_of_other_policies(
    new: NewSpecs, monkeypatch: pytest.MonkeyPatch
) -> None:
    new.fleet.write("repository/embed/config.pbtxt", 'backend: "python"\n')
    new.fleet.write("repository/embed/1/model.py", "class TritonPythonModel: x = 1\n")
    PolicyFleet(new.fleet).policy("require: {log_retention_days: 90}")
    new.fleet.write("policies/other.yaml", "policy: wrong\nowner: {}\n")
    new.fleet.environment("defaults: {logs: {retention_days: 7}}\n")
    monkeypatch.chdir(new.fleet.root)
    result = run("new", "other", "--from-repository", "repository")
    assert "warning[unmet-requirement] FL990: `logs.retention_days` is 7" in result.output
    assert "policies/other.yaml" not in result.output


def test_a_new_spec_is_written_with_what_policies_refuse_of_it_as_warnings_at_its_lines(
    new: NewSpecs, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = new.fleet.root
    new.fleet.write("repository/embed/config.pbtxt", 'backend: "python"\n')
    new.fleet.write("repository/embed/1/model.py", "class TritonPythonModel: x = 1\n")
    PolicyFleet(new.fleet).policy("instances: ml.p3.*\nrequire: {samples: 1, kms_key: true}")
    monkeypatch.chdir(root)
    result = run("new", "other", "--from-repository", "repository")
    assert result.exit_code == 0
    assert "wrote model_specs/other.yaml" in result.output
    lines = (root / "model_specs/other.yaml").read_text().splitlines()
    line = next(number for number, line in enumerate(lines, 1) if line.startswith("instance:"))
    assert f"model_specs/other.yaml:{line}:" in result.output
    assert "warning[disallowed-instance] FL950" in result.output
    assert "warning[unmet-requirement] FL990: `samples` is missing" in result.output
    assert "kms_key" not in result.output
    assert "the spec breaks policies: `fleet check`" in result.output
