"""The workflows that are written for a fleet's environments: what starts them, and what each may do."""

from __future__ import annotations

import re

import yaml

from tests.support.fleet_folder import FleetFolder
from tests.support.workflow_files import (
    FOLDER,
    ROLE,
    action_of_step,
    load_workflows,
    steps,
    triggers,
    workflow_texts,
)


class TestTriggers:
    def test_there_is_one_check_and_for_each_environment_a_deploy_and_for_promoted_ones_a_promotion(
        self, fleet: FleetFolder
    ) -> None:
        assert set(load_workflows(fleet)) == {
            "fleet-check",
            "fleet-deploy-dev",
            "fleet-deploy-prod",
            "fleet-drift",
            "fleet-promote-prod",
        }

    def test_one_that_follows_main_is_deployed_on_each_push_and_a_promoted_one_by_its_own_files(
        self, fleet: FleetFolder
    ) -> None:
        values = load_workflows(fleet)
        assert triggers(values["fleet-deploy-dev"])["push"] == {"branches": ["main"]}
        own = ["locks/prod/**", "environments/prod.yaml"]
        assert triggers(values["fleet-deploy-prod"])["push"] == {"branches": ["main"], "paths": own}
        assert list(triggers(values["fleet-promote-prod"])) == ["workflow_dispatch"]
        assert list(triggers(values["fleet-check"])) == ["pull_request"]
        assert list(triggers(values["fleet-drift"])) == ["schedule", "workflow_dispatch"]

    def test_one_deploy_of_an_environment_runs_at_a_time_and_none_is_cancelled(
        self, fleet: FleetFolder
    ) -> None:
        for name in ("dev", "prod"):
            workflow = load_workflows(fleet)[f"fleet-deploy-{name}"]
            assert workflow["concurrency"] == {"group": f"fleet-deploy-{name}", "cancel-in-progress": False}
            assert workflow["jobs"]["deploy"]["environment"] == name
            assert workflow["jobs"]["deploy"]["if"] == "github.ref == 'refs/heads/main'"

    def test_pull_requests_check_every_environment_and_the_promoted_ones_by_their_locks(
        self, fleet: FleetFolder
    ) -> None:
        runs = [
            step["run"]
            for step in load_workflows(fleet)["fleet-check"]["jobs"]["check"]["steps"]
            if "run" in step
        ]
        assert runs == [
            "make weights",
            ".venv/bin/fleet ci github --check",
            ".venv/bin/fleet ci codeowners --check",
            ".venv/bin/fleet check --env dev --format github",
            ".venv/bin/fleet check --env prod --format github --locked",
        ]

    def test_without_weights_in_ci_every_check_and_deploy_goes_by_the_locks(self, fleet: FleetFolder) -> None:
        runs = [step["run"] for _, step in steps(fleet, is_locked=True) if "run" in step]
        assert "make weights" not in runs
        acting_runs = [run for run in runs if re.match(r"\.venv/bin/fleet (check|deploy|ci g)", run)]
        assert [acting_run for acting_run in acting_runs if not acting_run.endswith(" --locked")] == []

    def test_an_environment_that_trusts_no_repository_is_checked_alone(self, folder: FleetFolder) -> None:
        folder.environment("")
        assert set(load_workflows(folder)) == {"fleet-check"}

    def test_names_of_the_branch_and_the_github_environment_are_the_files(self, folder: FleetFolder) -> None:
        folder.environment("access: {github: {repository: a/b, branch: trunk, environment: live}}\n")
        workflow = load_workflows(folder)["fleet-deploy-dev"]
        assert triggers(workflow)["push"] == {"branches": ["trunk"]}
        assert workflow["jobs"]["deploy"]["if"] == "github.ref == 'refs/heads/trunk'"
        assert workflow["jobs"]["deploy"]["environment"] == "live"

    def test_a_fleet_in_a_folder_of_its_repository_runs_there(self, fleet: FleetFolder) -> None:
        name = fleet.root.name
        text = workflow_texts(fleet, top=fleet.root.parent)[f"{FOLDER}/fleet-deploy-prod.yml"]
        workflow = yaml.safe_load(text)
        assert workflow["defaults"] == {"run": {"working-directory": name}}
        own = [f"{name}/locks/prod/**", f"{name}/environments/prod.yaml"]
        assert triggers(workflow)["push"]["paths"] == own


class TestPermissions:
    def test_a_workflow_has_none_and_each_job_the_least(self, fleet: FleetFolder) -> None:
        values = load_workflows(fleet)
        assert [value["permissions"] for value in values.values()] == [{}] * len(values)
        jobs = {name: job["permissions"] for value in values.values() for name, job in value["jobs"].items()}
        assert jobs == {
            "check": {"contents": "read"},
            "report": {"contents": "read"},
            "comment": {"pull-requests": "write"},
            "deploy": {"contents": "read", "id-token": "write"},
            "promote": {"contents": "write", "id-token": "write", "pull-requests": "write"},
            "drift-dev": {"contents": "read", "id-token": "write"},
            "drift-prod": {"contents": "read", "id-token": "write"},
            "issue": {"issues": "write"},
        }

    def test_a_token_of_the_job_is_for_jobs_that_take_on_a_role_under_a_github_environment_or_by_the_branch(
        self, fleet: FleetFolder
    ) -> None:
        for name, workflow in load_workflows(fleet).items():
            for job in workflow["jobs"].values():
                assumes = any(
                    action_of_step(step) == "aws-actions/configure-aws-credentials" for step in job["steps"]
                )
                assert assumes == ("id-token" in job["permissions"])
                assert ("environment" in job) == (assumes and name != "fleet-drift")
                if name == "fleet-drift" and assumes:
                    assert job["if"] == "github.ref == 'refs/heads/main'"

    def test_the_job_that_may_write_issues_runs_nothing_of_the_repository(self, fleet: FleetFolder) -> None:
        issue = load_workflows(fleet)["fleet-drift"]["jobs"]["issue"]
        assert [action_of_step(step) for step in issue["steps"]] == ["actions/download-artifact", ""]
        assert issue["needs"] == ["drift-dev", "drift-prod"]

    def test_only_where_every_environment_was_compared_may_the_issue_be_closed(
        self, fleet: FleetFolder
    ) -> None:
        """A job is skipped on another branch, by hand, and cancelled at its limit."""
        issue = load_workflows(fleet)["fleet-drift"]["jobs"]["issue"]
        assert issue["steps"][-1]["env"]["COMPARED"] == (
            "${{ needs.drift-dev.result == 'success' && needs.drift-prod.result == 'success' }}"
        )

    def test_the_job_that_may_write_comments_runs_nothing_of_the_pull_request(
        self, fleet: FleetFolder
    ) -> None:
        comment = load_workflows(fleet)["fleet-check"]["jobs"]["comment"]
        assert [action_of_step(step) for step in comment["steps"]] == ["actions/download-artifact", ""]
        assert "github.event.pull_request.head.repo.full_name == github.repository" in comment["if"]

    def test_roles_are_those_that_foundation_makes(self, fleet: FleetFolder) -> None:
        result = {
            name: [
                step["with"]["role-to-assume"]
                for job in workflow["jobs"].values()
                for step in job["steps"]
                if action_of_step(step) == "aws-actions/configure-aws-credentials"
            ]
            for name, workflow in load_workflows(fleet).items()
        }
        assert result == {
            "fleet-check": [],
            "fleet-deploy-dev": [ROLE.format("dev", "deploy")],
            "fleet-deploy-prod": [ROLE.format("prod", "deploy")],
            "fleet-drift": [ROLE.format("dev", "drift"), ROLE.format("prod", "drift")],
            "fleet-promote-prod": [ROLE.format("dev", "promotion"), ROLE.format("prod", "deploy")],
        }

    def test_actions_are_pinned_by_commit_with_their_version(self, fleet: FleetFolder) -> None:
        uses = [
            line.split("uses: ")[1]
            for text in workflow_texts(fleet).values()
            for line in text.splitlines()
            if "uses: " in line
        ]
        assert uses
        pattern = re.compile(r"[a-z-]+/[a-z-]+@[0-9a-f]{40} # v[0-9]+\.[0-9]+\.[0-9]+")
        assert [use for use in uses if not pattern.fullmatch(use)] == []

    def test_no_checkout_leaves_its_token_and_no_expression_is_part_of_a_script(
        self, fleet: FleetFolder
    ) -> None:
        for _, step in steps(fleet):
            if action_of_step(step) == "actions/checkout":
                assert step["with"]["persist-credentials"] is False
            assert "${{" not in step.get("run", "")
