"""The embedded AWS has the roles and the OIDC provider of `access`, as Foundation declares them."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App
from botocore.exceptions import ClientError

from fleet_emulator.server import EmbeddedAws
from fleet_stacks.fleet_app import FoundationStack
from tests.support.embedded_app.clients import client
from tests.support.embedded_app.stacks import Stacks
from tests.support.fleet_folder import FleetFolder
from triton_fleet.endpoint.resolve import resolve_foundation
from triton_fleet.project.project import open_project

ACCOUNT = "123456789012"
ISSUER = "token.actions.githubusercontent.com"
PROVIDER = f"arn:aws:iam::{ACCOUNT}:oidc-provider/{ISSUER}"
DEPLOY = "triton-fleet-dev-us-east-1-deploy"


@pytest.fixture
def access(folder: FleetFolder) -> dict[str, Any]:
    """Foundation's resources for `access`, and nothing else of it."""
    trusted_text = "access: {github: {repository: example@1/fleet@23}}\n"
    text = f'environment: dev\naccount: "{ACCOUNT}"\nregion: us-east-1\n{trusted_text}'
    folder.write("environments/dev.yaml", text)
    app = App()
    FoundationStack(app, deployment=resolve_foundation(open_project(folder.root, "dev")).deployment)
    resources = app.synth().stacks[0].template["Resources"]
    return {id: resource for id, resource in resources.items() if id.startswith("Access")}


def test_a_role_trusts_the_provider_that_foundation_makes(
    aws: EmbeddedAws, stacks: Stacks, access: dict[str, Any]
) -> None:
    assert stacks.create("access", access) == "CREATE_COMPLETE"
    iam = client(aws, "iam")
    provider = iam.get_open_id_connect_provider(OpenIDConnectProviderArn=PROVIDER)
    assert (provider["Url"], provider["ClientIDList"]) == (ISSUER, ["sts.amazonaws.com"])
    role = iam.get_role(RoleName=DEPLOY)["Role"]
    (trust,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert trust["Principal"] == {"Federated": PROVIDER}
    assert role["MaxSessionDuration"] == 21600
    (policy,) = iam.list_role_policies(RoleName=DEPLOY)["PolicyNames"]
    statement = iam.get_role_policy(RoleName=DEPLOY, PolicyName=policy)["PolicyDocument"]["Statement"]
    assert statement[0]["Sid"] == "ActAsCdk"
    stack = stacks.api.describe_stacks(StackName="access")["Stacks"][0]["StackId"]
    stacks.api.delete_stack(StackName=stack)
    assert stacks.final_status(stack) == "DELETE_COMPLETE"
    assert iam.list_open_id_connect_providers()["OpenIDConnectProviderList"] == []


def test_an_account_has_one_provider_and_another_issuer_replaces_it(
    aws: EmbeddedAws, stacks: Stacks, access: dict[str, Any]
) -> None:
    provider = {id: entry for id, entry in access.items() if entry["Type"] == "AWS::IAM::OIDCProvider"}
    assert stacks.create("first", provider) == "CREATE_COMPLETE"
    assert stacks.create("second", provider) == "ROLLBACK_COMPLETE"
    ((id, resource),) = provider.items()
    second_value = {id: {**resource, "Properties": {**resource["Properties"], "Url": "https://gitlab.com"}}}
    assert stacks.update("first", second_value) == "UPDATE_COMPLETE"
    entries = client(aws, "iam").list_open_id_connect_providers()["OpenIDConnectProviderList"]
    assert [entry["Arn"] for entry in entries] == [f"arn:aws:iam::{ACCOUNT}:oidc-provider/gitlab.com"]


def test_no_token_of_a_job_is_accepted_and_no_subject_compared(aws: EmbeddedAws) -> None:
    with pytest.raises(ClientError, match="MissingAuthenticationToken"):
        client(aws, "sts").assume_role_with_web_identity(
            RoleArn=f"arn:aws:iam::{ACCOUNT}:role/{DEPLOY}", RoleSessionName="job", WebIdentityToken="a.b.c"
        )
