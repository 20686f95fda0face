"""Claims of jobs and grants of the roles of `access`: the subjects of their tokens, and sessions as long as a job."""

from __future__ import annotations

from typing import Any

from aws_cdk import App

from fleet_stacks.fleet_app import FoundationStack
from tests.support.fleet_folder import FleetFolder
from tests.support.workflow_files import action_of_step, steps, write_environments
from triton_fleet.endpoint.resolve import resolve_foundation
from triton_fleet.project.project import open_project

SUBJECT = "token.actions.githubusercontent.com:sub"


def roles(folder: FleetFolder, environment: str = "dev") -> dict[str, dict[str, Any]]:
    """The roles of Foundation that have a name, by their ARN."""
    app = App()
    FoundationStack(app, deployment=resolve_foundation(open_project(folder.root, environment)).deployment)
    resources = app.synth().stacks[0].template["Resources"].values()
    named_properties = [
        resource["Properties"]
        for resource in resources
        if resource["Type"] == "AWS::IAM::Role" and "RoleName" in resource["Properties"]
    ]
    return {
        f"arn:aws:iam::111122223333:role/{named_property['RoleName']}": named_property
        for named_property in named_properties
    }


def test_during_a_migration_both_forms_of_a_repository_are_trusted_and_no_others(folder: FleetFolder) -> None:
    repository = "repository: example@1/fleet@23, former_repository: example/fleet, promotes_to: [prod]"
    folder.environment(f"access: {{github: {{{repository}}}}}\n")
    string_equals = {
        arn.rpartition("-")[2]: statement["Condition"]["StringEquals"][SUBJECT]
        for arn, role in roles(folder).items()
        for statement in role["AssumeRolePolicyDocument"]["Statement"]
    }
    forms = ("repo:example@1/fleet@23", "repo:example/fleet")
    assert string_equals == {
        "deploy": [f"{form}:environment:dev" for form in forms],
        "drift": [f"{form}:ref:refs/heads/main" for form in forms],
        "promotion": [f"{form}:environment:prod" for form in forms],
    }


def test_credentials_of_a_job_last_as_long_as_the_job_and_its_role_allows_that(folder: FleetFolder) -> None:
    write_environments(folder)
    limits = {
        arn: role["MaxSessionDuration"]
        for environment in ("dev", "prod")
        for arn, role in roles(folder, environment).items()
    }
    requested_rows = [
        (step["with"]["role-to-assume"], step["with"].get("role-duration-seconds", 3600), job)
        for job, step in steps(folder)
        if action_of_step(step) == "aws-actions/configure-aws-credentials"
    ]
    assert {role for role, _, _ in requested_rows} == limits.keys()
    for role, seconds, job in requested_rows:
        assert job["timeout-minutes"] * 60 <= seconds <= limits[role]
