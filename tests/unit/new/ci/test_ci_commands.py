"""`fleet ci github|gitlab`: the commands and scripts of what it writes, and which files it writes."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from tests.support.fleet_commands import form, recipe, simple_commands
from tests.support.fleet_folder import ROOT, FleetFolder
from tests.support.workflow_files import (
    FOLDER,
    ROLE,
    TRUST_KEYS,
    run_with_gh,
    step_by_name,
    steps,
    workflow_texts,
)
from triton_fleet.cli.commands import app
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.new.ci.gitlab import pipeline
from triton_fleet.spec.trusts import session_seconds

TEMP = "${{ runner.temp }}"
MAKEFILE = """\
setup:
\t@mkdir -p .venv/bin
\t@printf '#!/bin/sh\\necho "made by {whose}: $$@"\\n' > .venv/bin/fleet
\t@chmod +x .venv/bin/fleet
"""


class TestCommands:
    def test_each_command_of_a_step_exists_with_its_options(self, fleet: FleetFolder) -> None:
        scripts = [step["run"] for _, step in steps(fleet) if "run" in step]
        jobs = yaml.safe_load(pipeline(fleet.root, fleet.root.resolve(), locked=False))
        scripts += [
            line for job in jobs.values() if isinstance(job, dict) for line in job.get("script", ())
        ] + jobs[".fleet"]["before_script"]
        called_set = set()
        for line in (line for script in scripts for line in script.splitlines()):
            for program, *words in simple_commands(line.rstrip(" \\")):
                if program == "make":
                    called_set.add(f"make {words[0]}")
                    assert recipe(*words) is not None
                    assert f"\n{words[0]}: " in (ROOT / "triton_fleet/product/templates/Makefile").read_text()
                elif program.endswith(".venv/bin/fleet"):
                    called_set.add(words[0])
                    form(["fleet", *words], complete=True)
        assert called_set == {
            "make setup",
            "make weights",
            "check",
            "ci",
            "deploy",
            "drift",
            "promote",
            "report",
        }

    def test_each_script_is_one_that_bash_reads(self, fleet: FleetFolder) -> None:
        for _, step in steps(fleet):
            subprocess.run(["bash", "-n", "-c", step.get("run", "")], check=True)

    @pytest.mark.parametrize(
        ("existing_text", "call"),
        [
            ("", "--method POST repos/example/fleet/issues/7/comments"),
            ("42", "--method PATCH repos/example/fleet/issues/comments/42"),
        ],
        ids=["the first one", "an update"],
    )
    def test_the_report_is_one_comment_that_is_updated(
        self, fleet: FleetFolder, tmp_path: Path, existing_text: str, call: str
    ) -> None:
        step = step_by_name(fleet, "Comment, or update the comment")
        (tmp_path / "report.md").write_text("In place.\n")
        calls = run_with_gh(step, tmp_path, f"echo {existing_text}", NUMBER="7", REPOSITORY="example/fleet")
        assert calls[0].startswith("api repos/example/fleet/issues/7/comments --paginate")
        assert calls[1:] == [f"api --silent {call} --field body=@body.md"]
        assert (tmp_path / "body.md").read_text() == "<!-- triton-fleet-report -->\nIn place.\n"

    def test_no_code_of_a_pull_request_computes_its_report(self, fleet: FleetFolder, tmp_path: Path) -> None:
        """The steps of the job, in the merge of a pull request that replaces every program."""
        job = yaml.safe_load(workflow_texts(fleet)[f"{FOLDER}/fleet-check.yml"])["jobs"]["report"]
        temp = str(tmp_path / "temp")
        repository = tmp_path / "clone"
        FleetFolder(repository).write("Makefile", MAKEFILE.format(whose="the base"))
        git(tmp_path, "init", "-q", "-b", "main", "clone")
        git(repository, "add", ".")
        git(repository, "commit", "-q", "-m", "base")
        git(repository, "checkout", "-q", "-b", "work")
        FleetFolder(repository).write("Makefile", MAKEFILE.format(whose="the pull request"))
        FleetFolder(repository).write(".venv/bin/fleet", "#!/bin/sh\necho forged\n").chmod(0o755)
        git(repository, "add", "--force", ".")
        git(repository, "commit", "-q", "-m", "change")
        git(repository, "checkout", "-q", "main")
        git(repository, "merge", "-q", "--no-ff", "work")
        (tmp_path / "temp").mkdir()
        for step in (step for step in job["steps"] if step.get("run")):
            given_texts = {key: value.replace(TEMP, temp) for key, value in step.get("env", {}).items()}
            folder = step.get("working-directory", str(repository)).replace(TEMP, temp)
            summary = str(tmp_path / "summary")
            variables = {**os.environ, "RUNNER_TEMP": temp, "GITHUB_STEP_SUMMARY": summary, **given_texts}
            subprocess.run(["bash", "-e", "-c", step["run"]], cwd=folder, env=variables, check=True)
        text = (tmp_path / "summary").read_text()
        assert text.startswith("made by the base: report --base HEAD^1 --limit 65000\n\n<sub>Computed for ")
        assert "by the code of the base, not by that of this pull request." in text

    def test_a_promotion_is_pushed_to_a_branch_of_its_own_and_opened(
        self, fleet: FleetFolder, tmp_path: Path
    ) -> None:
        clone = clone_with_origin(tmp_path)
        (clone / "locks/prod/a.lock.yaml").write_text("new\n")
        named_values = {"ENDPOINTS": "a; touch pwned $(touch pwned)", "RUN": "5-1"}
        calls = run_with_gh(step_by_name(fleet, "Open a pull request"), clone, "true", **named_values)
        assert calls[-1].startswith(
            "pr create --base main --head fleet-promote/prod-5-1 --title Promote to prod: a"
        )
        pushed_git = git(tmp_path / "origin", "show", "--stat", "--format=%s", "fleet-promote/prod-5-1")
        assert "locks/prod/a.lock.yaml" in pushed_git
        assert not (clone / "pwned").exists()

    def test_a_promotion_that_changes_nothing_opens_nothing(self, fleet: FleetFolder, tmp_path: Path) -> None:
        clone = clone_with_origin(tmp_path)
        calls = run_with_gh(
            step_by_name(fleet, "Open a pull request"), clone, "true", ENDPOINTS="a", RUN="5-1"
        )
        assert calls == []
        assert "prod is up to date with dev" in (clone / "summary").read_text()


def git(folder: Path, *arguments: str) -> str:
    command = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout


def clone_with_origin(path: Path) -> Path:
    """A clone of a repository with one lock of prod."""
    git(path, "init", "-q", "--bare", "-b", "main", "origin")
    git(path, "clone", "-q", "origin", "clone")
    lock = path / "clone/locks/prod/a.lock.yaml"
    lock.parent.mkdir(parents=True)
    lock.write_text("old\n")
    git(path / "clone", "add", ".")
    git(path / "clone", "commit", "-q", "-m", "old")
    return path / "clone"


class TestCommand:
    @pytest.fixture(autouse=True)
    def enter_fleet(self, fleet: FleetFolder, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(fleet.root)

    def run(self, *arguments: str) -> str:
        result = CliRunner().invoke(app, ["ci", *arguments], catch_exceptions=False)
        assert result.exit_code == 0
        return result.output

    def test_it_writes_the_files_and_then_finds_them_up_to_date(self, fleet: FleetFolder) -> None:
        assert f"wrote {FOLDER}/fleet-deploy-prod.yml\n" in self.run("github")
        assert {path: (fleet.root / path).read_text() for path in workflow_texts(fleet)} == workflow_texts(
            fleet
        )
        assert ": up to date\n" in self.run("github", "--check")

    def test_a_file_that_differs_or_that_no_environment_has_is_stale(self, fleet: FleetFolder) -> None:
        self.run("github")
        edited_root = fleet.root / FOLDER / "fleet-check.yml"
        edited_root.write_text(edited_root.read_text() + "# mine\n")
        (fleet.root / "environments/prod.yaml").unlink()
        with pytest.raises(FindingsError) as error_info:
            self.run("github", "--check")
        assert {finding.code for finding in error_info.value.findings} == {"FL501"}
        assert {finding.file.name for finding in error_info.value.findings if finding.file} == {
            "fleet-check.yml",
            "fleet-deploy-prod.yml",
            "fleet-drift.yml",
            "fleet-promote-prod.yml",
        }
        assert f"deleted {FOLDER}/fleet-deploy-prod.yml" in self.run("github")
        assert sorted(file.name for file in (fleet.root / FOLDER).iterdir()) == [
            "fleet-check.yml",
            "fleet-deploy-dev.yml",
            "fleet-drift.yml",
        ]

    @pytest.mark.parametrize(
        ("host", "file"), [("github", f"{FOLDER}/fleet-check.yml"), ("gitlab", ".gitlab-ci.yml")]
    )
    def test_a_file_of_somebody_else_is_not_replaced(self, fleet: FleetFolder, host: str, file: str) -> None:
        fleet.write(file, "name: mine\n")
        with pytest.raises(CannotRunError, match="was not written by `fleet ci`"):
            self.run(host)
        assert (fleet.root / file).read_text() == "name: mine\n"

    def test_what_has_no_workflow_is_named_with_the_key_that_gives_it_one(self, fleet: FleetFolder) -> None:
        fleet.environment(TRUST_KEYS.replace(", promotes_to: [prod]", ""))
        fleet.environment("", "qa")
        text = self.run("github")
        assert "no workflow deploys qa: environments/qa.yaml has no `access.github`\n" in text
        lacks = "`access.github.promotes_to` in environments/dev.yaml lacks 'prod'\n"
        assert f"no workflow promotes to prod: {lacks}" in text

    def test_a_repository_without_the_ids_that_tokens_have_is_a_warning_and_no_error(
        self, fleet: FleetFolder
    ) -> None:
        assert "FL574" not in self.run("github")
        fleet.environment(TRUST_KEYS.replace("example@1/fleet@23", "example/fleet"))
        for option in ((), ("--check",)):
            text = self.run("github", *option)
            assert "environments/dev.yaml:5:12: warning[subject-without-ids] FL574" in text

    def test_the_pipeline_of_gitlab_can_be_a_file_that_others_include(self, fleet: FleetFolder) -> None:
        assert "wrote ci/fleet.yml\n" in self.run("gitlab", "--file", "ci/fleet.yml")
        text = (fleet.root / "ci/fleet.yml").read_text()
        assert '.venv/bin/fleet ci gitlab --check --file "$CI_PROJECT_DIR/ci/fleet.yml"' in text
        assert ": up to date\n" in self.run("gitlab", "--check", "--file", "ci/fleet.yml")


class TestGitLab:
    def test_merge_requests_check_and_the_default_branch_deploys_one_at_a_time(
        self, fleet: FleetFolder
    ) -> None:
        fleet.environment("promoted_from: dev\naccess: {gitlab: {project: example/fleet}}\n", "prod")
        jobs = yaml.safe_load(pipeline(fleet.root, fleet.root.resolve(), locked=False))
        assert jobs["fleet-check-dev"]["script"] == [".venv/bin/fleet check --env dev"]
        assert jobs["fleet-check-prod"]["script"] == [".venv/bin/fleet check --env prod --locked"]
        on_main = '$CI_COMMIT_BRANCH == "main" && $CI_PIPELINE_SOURCE !~ /^(merge_request_event|schedule)$/'
        assert jobs["fleet-deploy-dev"]["rules"] == [{"if": on_main}]
        own = ["locks/prod/**/*", "environments/prod.yaml"]
        prod = jobs["fleet-deploy-prod"]
        assert prod["rules"] == [{"if": on_main, "changes": own}]
        assert (prod["resource_group"], prod["interruptible"]) == ("prod", False)
        assert prod["variables"]["AWS_ROLE_ARN"] == ROLE.format("prod", "deploy")
        assert prod["id_tokens"] == {"FLEET_TOKEN": {"aud": "sts.amazonaws.com"}}

    def test_no_code_of_a_merge_request_computes_its_report(self, fleet: FleetFolder) -> None:
        name = fleet.root.name
        jobs = yaml.safe_load(pipeline(fleet.root, fleet.root.parent.resolve(), locked=False))
        report = jobs["fleet-report"]
        assert report["before_script"][-2:] == [f'cd "$base/{name}"', "make setup"]
        assert report["script"][0] == f'cd "$CI_PROJECT_DIR/{name}"'
        assert report["script"][2].startswith(f'"$base/{name}/.venv/bin/fleet" report --base ')

    def test_schedules_of_the_default_branch_look_for_drift_and_deploy_nothing(
        self, fleet: FleetFolder
    ) -> None:
        jobs = yaml.safe_load(pipeline(fleet.root, fleet.root.resolve(), locked=False))
        drift = jobs["fleet-drift-dev"]
        assert drift["rules"] == [{"if": '$CI_COMMIT_BRANCH == "main" && $CI_PIPELINE_SOURCE == "schedule"'}]
        assert drift["variables"]["AWS_ROLE_ARN"] == ROLE.format("dev", "drift")
        assert drift["script"][-1] == ".venv/bin/fleet drift --env dev"
        assert "environment" not in drift

    def test_a_job_has_the_time_for_which_its_role_allows_a_session(self, fleet: FleetFolder) -> None:
        jobs = yaml.safe_load(pipeline(fleet.root, fleet.root.resolve(), locked=False))
        assert jobs["fleet-deploy-dev"]["timeout"] == f"{session_seconds('deploy') // 60} minutes"
        assert jobs["fleet-drift-dev"]["timeout"] == f"{session_seconds('drift') // 60} minutes"
