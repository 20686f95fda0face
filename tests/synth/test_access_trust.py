"""Whom the roles of `access` trust: whole subjects of tokens, without a wildcard, as long as a job may take."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App
from aws_cdk.assertions import Template

from fleet.endpoint.resolve import resolve_fleet, resolve_foundation
from fleet_folder import FleetFolder
from fleet_stacks.fleet_app import add_fleet
from fleet_stacks.stacks import FoundationStack
from tests.synth.conftest import templates
from tests.synth.resources import only
from workflow_files import steps, used, write_environments

FOUNDATION, ACCOUNT = "triton-fleet-dev", "111122223333"
GITHUB = "access: {github: {repository: example@1/fleet@23}}\n"
ISSUER = "token.actions.githubusercontent.com"
NAMES = {role: f"triton-fleet-dev-us-east-1-{role}" for role in ("deploy", "drift", "promotion")}
SEARCH = f"arn:aws:iam::{ACCOUNT}:role/search"


@pytest.fixture
def made(folder: FleetFolder, request: pytest.FixtureRequest) -> Template:
    """Foundation with the access that a test asks for."""
    folder.environment(getattr(request, "param", GITHUB))
    return templates(folder)[FOUNDATION]


def trusts(made: Template) -> dict[str, list[dict[str, Any]]]:
    """The trust statements of roles that have a name, by that."""
    roles = [each["Properties"] for each in made.find_resources("AWS::IAM::Role").values()]
    return {
        each["RoleName"]: each["AssumeRolePolicyDocument"]["Statement"]
        for each in roles
        if "RoleName" in each
    }


def trust(provider: Any, issuer: str, subject: Any) -> dict[str, Any]:
    return {
        "Action": "sts:AssumeRoleWithWebIdentity",
        "Effect": "Allow",
        "Principal": {"Federated": provider},
        "Condition": {"StringEquals": {f"{issuer}:aud": "sts.amazonaws.com", f"{issuer}:sub": subject}},
    }


class TestTrust:
    def test_without_access_nobody_is_trusted_and_no_provider_is_made(self, folder: FleetFolder) -> None:
        foundation = str(templates(folder)[FOUNDATION].to_json())
        assert "WebIdentity" not in foundation
        assert "OIDCProvider" not in foundation

    def test_jobs_are_trusted_by_repository_with_environment_or_default_branch(self, made: Template) -> None:
        ((provider, resource),) = made.find_resources("AWS::IAM::OIDCProvider").items()
        url, audience = f"https://{ISSUER}", ["sts.amazonaws.com"]
        assert resource["Properties"].items() >= {"Url": url, "ClientIdList": audience}.items()
        arn = {"Fn::GetAtt": [provider, "Arn"]}
        assert trusts(made) == {
            NAMES["deploy"]: [trust(arn, ISSUER, "repo:example@1/fleet@23:environment:dev")],
            NAMES["drift"]: [trust(arn, ISSUER, "repo:example@1/fleet@23:ref:refs/heads/main")],
        }

    @pytest.mark.parametrize(
        "made",
        [
            f"""\
            access:
              github:
                repository: example@1/fleet@23
                environment: development
                branch: trunk
                promotes_to: [staging, prod]
                provider: arn:aws:iam::{ACCOUNT}:oidc-provider/{ISSUER}
              gitlab: {{project: example/ml/fleet}}
            """
        ],
        indirect=True,
    )
    def test_a_file_names_another_environment_branch_provider_and_host(self, made: Template) -> None:
        given = f"arn:aws:iam::{ACCOUNT}:oidc-provider/{ISSUER}"
        ((gitlab, resource),) = made.find_resources("AWS::IAM::OIDCProvider").items()
        assert resource["Properties"]["Url"] == "https://gitlab.com"
        arn, repository = {"Fn::GetAtt": [gitlab, "Arn"]}, "repo:example@1/fleet@23"
        branch = trust(arn, "gitlab.com", "project_path:example/ml/fleet:ref_type:branch:ref:main")
        promoting = [f"{repository}:environment:{each}" for each in ("staging", "prod")]
        assert trusts(made) == {
            NAMES["deploy"]: [trust(given, ISSUER, f"{repository}:environment:development"), branch],
            NAMES["drift"]: [trust(given, ISSUER, f"{repository}:ref:refs/heads/trunk"), branch],
            NAMES["promotion"]: [trust(given, ISSUER, promoting)],
        }

    @pytest.mark.parametrize(
        "made",
        [
            """\
            access:
              github:
                repository: example@1/fleet@23
                former_repository: example/fleet
                promotes_to: [prod]
            """
        ],
        indirect=True,
    )
    def test_during_a_migration_both_forms_of_a_repository_are_trusted_and_no_others(
        self, made: Template
    ) -> None:
        forms = ("repo:example@1/fleet@23", "repo:example/fleet")
        found = {
            role: trusts(made)[NAMES[role]][0]["Condition"]["StringEquals"][f"{ISSUER}:sub"] for role in NAMES
        }
        assert found == {
            "deploy": [f"{each}:environment:dev" for each in forms],
            "drift": [f"{each}:ref:refs/heads/main" for each in forms],
            "promotion": [f"{each}:environment:prod" for each in forms],
        }

    def test_credentials_of_a_job_last_as_long_as_the_job_and_its_role_allows_that(
        self, folder: FleetFolder
    ) -> None:
        write_environments(folder)
        limits = dict[str, int]()
        for name in ("dev", "prod"):
            app = App()
            FoundationStack(app, place=resolve_foundation(folder.root, name).place)
            for each in app.synth().stacks[0].template["Resources"].values():
                if each["Type"] == "AWS::IAM::Role" and "RoleName" in each["Properties"]:
                    role = each["Properties"]
                    limits[f"arn:aws:iam::{ACCOUNT}:role/{role['RoleName']}"] = role["MaxSessionDuration"]
        asked = [
            (step["with"]["role-to-assume"], step["with"].get("role-duration-seconds", 3600), job)
            for job, step in steps(folder)
            if used(step) == "aws-actions/configure-aws-credentials"
        ]
        assert {role for role, _, _ in asked} == limits.keys()
        for role, seconds, job in asked:
            assert job["timeout-minutes"] * 60 <= seconds <= limits[role]

    def test_the_boundary_of_the_environment_is_on_every_role(self, folder: FleetFolder) -> None:
        boundary = f"arn:aws:iam::{ACCOUNT}:policy/boundary"
        folder.environment(f"permissions_boundary: {boundary}\n{GITHUB}")
        folder.spec(f"access: {{invokers: ['{SEARCH}']}}\n")
        for template in templates(folder).values():
            roles = template.find_resources("AWS::IAM::Role").values()
            assert {each["Properties"].get("PermissionsBoundary") for each in roles} == {boundary}

    def test_in_china_a_token_is_made_for_sts_there(self, folder: FleetFolder) -> None:
        text = f'environment: dev\naccount: "{ACCOUNT}"\nregion: cn-north-1\n{GITHUB}'
        folder.write("environments/dev.yaml", text)
        folder.write("model_specs/.keep", "")
        (folder.root / "model_specs/sentences.yaml").unlink(missing_ok=True)
        app = App()
        add_fleet(app, resolve_fleet(folder.root, "dev"))
        provider = only(Template.from_json(app.synth().stacks[0].template), "AWS::IAM::OIDCProvider")
        assert provider["Properties"]["ClientIdList"] == ["sts.amazonaws.com.cn"]
