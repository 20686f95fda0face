"""Who is trusted with the roles of `access`, by name and without a wildcard, and what each may do; see test_invokers.py for those of specs."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App
from aws_cdk.assertions import Template

from fleet_stacks.fleet_app import add_fleet
from tests.support.fleet_folder import FleetFolder
from tests.synth.conftest import templates
from tests.synth.resources import only_resource
from triton_endpoints.access.permissions import PUBLISHED_PREFIXES
from triton_fleet.builds.engines.artifacts import ENGINES
from triton_fleet.builds.images.artifacts import IMAGES
from triton_fleet.catalog.cloudformation import detected_types
from triton_fleet.endpoint.bucket_keys import ARCHIVES, ENDPOINTS, OWNERS, RELEASES
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.project.project import open_project

FOUNDATION = "triton-fleet-dev"
ACCOUNT, OWN_ARN = "111122223333", "us-east-1:111122223333"
BUCKET = f"arn:aws:s3:::triton-fleet-dev-{ACCOUNT}-us-east-1"
GITHUB = "access: {github: {repository: example@1/fleet@23}}\n"
ISSUER = "token.actions.githubusercontent.com"
NAMES = {role: f"triton-fleet-dev-us-east-1-{role}" for role in ("deploy", "drift", "promotion")}
OWN_STACKS = [f"arn:aws:cloudformation:{OWN_ARN}:stack/triton-fleet-dev{end}" for end in ("/*", "-*")]
SPARED_CONDITION = {"StringEqualsIfExists": {"aws:ResourceTag/triton-fleet:environment": "dev"}}
ENDPOINT_STATEMENTS = {
    f"See{kind}s": (
        f"sagemaker:Describe{kind}",
        f"arn:aws:sagemaker:{OWN_ARN}:{resource}/*",
        SPARED_CONDITION,
    )
    for kind, resource in (
        ("Endpoint", "endpoint"),
        ("EndpointConfig", "endpoint-config"),
        ("Model", "model"),
    )
}
LIST = ["s3:ListBucket", "s3:ListBucketMultipartUploads", "s3:ListBucketVersions"]
BUILD_LOGS = [
    f"arn:aws:logs:{OWN_ARN}:log-group:/triton-fleet/dev/{name}:log-stream:*"
    for name in ("engines", "images")
]
SEARCH = f"arn:aws:iam::{ACCOUNT}:role/search"


@pytest.fixture
def access_template(folder: FleetFolder, request: pytest.FixtureRequest) -> Template:
    """Foundation with the access that a test asks for."""
    folder.environment(getattr(request, "param", GITHUB))
    return templates(folder)[FOUNDATION]


def trusts(template: Template) -> dict[str, list[dict[str, Any]]]:
    """The trust statements of roles that have a name, by that."""
    roles = [resource["Properties"] for resource in template.find_resources("AWS::IAM::Role").values()]
    return {
        role["RoleName"]: role["AssumeRolePolicyDocument"]["Statement"]
        for role in roles
        if "RoleName" in role
    }


def role_statements(template: Template, role: str) -> dict[str, tuple[Any, ...]]:
    """Permissions of a role: action, resource and condition by statement."""
    roles = template.find_resources("AWS::IAM::Role")
    (id,) = [id for id, entry in roles.items() if entry["Properties"].get("RoleName") == NAMES[role]]
    (policy,) = [
        resource["Properties"]["PolicyDocument"]["Statement"]
        for resource in template.find_resources("AWS::IAM::Policy").values()
        if resource["Properties"]["Roles"] == [{"Ref": id}]
    ]
    keys = ("Action", "Resource", "Condition")
    return {entry["Sid"]: tuple(entry[key] for key in keys if key in entry) for entry in policy}


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

    def test_jobs_are_trusted_by_repository_with_environment_or_default_branch(
        self, access_template: Template
    ) -> None:
        ((provider, resource),) = access_template.find_resources("AWS::IAM::OIDCProvider").items()
        url, audience = f"https://{ISSUER}", ["sts.amazonaws.com"]
        assert resource["Properties"].items() >= {"Url": url, "ClientIdList": audience}.items()
        arn = {"Fn::GetAtt": [provider, "Arn"]}
        assert trusts(access_template) == {
            NAMES["deploy"]: [trust(arn, ISSUER, "repo:example@1/fleet@23:environment:dev")],
            NAMES["drift"]: [trust(arn, ISSUER, "repo:example@1/fleet@23:ref:refs/heads/main")],
        }

    @pytest.mark.parametrize(
        "access_template",
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
    def test_a_file_names_another_environment_branch_provider_and_host(
        self, access_template: Template
    ) -> None:
        given_text = f"arn:aws:iam::{ACCOUNT}:oidc-provider/{ISSUER}"
        ((gitlab, resource),) = access_template.find_resources("AWS::IAM::OIDCProvider").items()
        assert resource["Properties"]["Url"] == "https://gitlab.com"
        arn, repository = {"Fn::GetAtt": [gitlab, "Arn"]}, "repo:example@1/fleet@23"
        branch = trust(arn, "gitlab.com", "project_path:example/ml/fleet:ref_type:branch:ref:main")
        lines = [f"{repository}:environment:{text}" for text in ("staging", "prod")]
        assert trusts(access_template) == {
            NAMES["deploy"]: [trust(given_text, ISSUER, f"{repository}:environment:development"), branch],
            NAMES["drift"]: [trust(given_text, ISSUER, f"{repository}:ref:refs/heads/trunk"), branch],
            NAMES["promotion"]: [trust(given_text, ISSUER, lines)],
        }

    def test_the_boundary_of_the_environment_is_on_every_role(self, folder: FleetFolder) -> None:
        boundary = f"arn:aws:iam::{ACCOUNT}:policy/boundary"
        folder.environment(f"permissions_boundary: {boundary}\n{GITHUB}")
        folder.spec(f"access: {{invokers: ['{SEARCH}']}}\n")
        for template in templates(folder).values():
            roles = template.find_resources("AWS::IAM::Role").values()
            assert {role["Properties"].get("PermissionsBoundary") for role in roles} == {boundary}

    def test_in_china_a_token_is_made_for_sts_there(self, folder: FleetFolder) -> None:
        text = f'environment: dev\naccount: "{ACCOUNT}"\nregion: cn-north-1\n{GITHUB}'
        folder.write("environments/dev.yaml", text)
        folder.write("model_specs/.keep", "")
        (folder.root / "model_specs/sentences.yaml").unlink(missing_ok=True)
        app = App()
        add_fleet(app, resolve_project(open_project(folder.root, "dev")))
        provider = only_resource(Template.from_json(app.synth().stacks[0].template), "AWS::IAM::OIDCProvider")
        assert provider["Properties"]["ClientIdList"] == ["sts.amazonaws.com.cn"]


class TestPermissions:
    def test_the_role_that_deploys_acts_as_the_cdk_and_publishes_and_no_more(
        self, access_template: Template
    ) -> None:
        values = role_statements(access_template, "deploy")
        iam, ecr = f"arn:aws:iam::{ACCOUNT}:role", f"arn:aws:ecr:{OWN_ARN}:repository/triton-fleet-dev"
        (read, (own, *releases)) = values.pop("ReadImages")
        assert (read, own) == ("ecr:BatchGetImage", ecr)
        assert {release.rpartition(":")[2] for release in releases} == {"repository/sagemaker-tritonserver"}
        assert values == {
            "ActAsCdk": (
                "sts:AssumeRole",
                [
                    f"{iam}/cdk-hnb659fds-{name}-role-{ACCOUNT}-us-east-1"
                    for name in ("deploy", "file-publishing", "image-publishing", "lookup")
                ],
            ),
            "ReadParameters": (
                "ssm:GetParameter",
                [
                    f"arn:aws:ssm:{OWN_ARN}:parameter/cdk-bootstrap/hnb659fds/version",
                    f"arn:aws:ssm:{OWN_ARN}:parameter/triton-fleet/dev/engine-job-role",
                ],
            ),
            "SeeStacks": (
                [
                    "cloudformation:DescribeStackEvents",
                    "cloudformation:DescribeStackResources",
                    "cloudformation:DescribeStacks",
                    "cloudformation:GetTemplate",
                ],
                [*OWN_STACKS, f"arn:aws:cloudformation:{OWN_ARN}:stack/CDKToolkit/*"],
            ),
            "RepairStacks": (
                ["cloudformation:ContinueUpdateRollback", "cloudformation:UpdateTerminationProtection"],
                OWN_STACKS,
            ),
            **ENDPOINT_STATEMENTS,
            "ListArtifacts": (LIST, BUCKET),
            "PublishArtifacts": (
                ["s3:AbortMultipartUpload", "s3:GetObject", "s3:GetObjectVersion", "s3:PutObject"],
                [f"{BUCKET}/{prefix}*" for prefix in PUBLISHED_PREFIXES],
            ),
            "EndAttempts": (
                "s3:DeleteObject",
                [f"{BUCKET}/{text}/*" for text in ("archives", "engines", "images")],
            ),
            "ReadUploads": ("s3:GetObject", f"{BUCKET}/uploads/*"),
            "RecordOwners": ("s3:PutObject", f"{BUCKET}/{OWNERS}*"),
            "ReadReleases": ("ecr:GetDownloadUrlForLayer", releases),
            "Build": (
                ["codebuild:BatchGetBuilds", "codebuild:StartBuild", "codebuild:StopBuild"],
                [
                    f"arn:aws:codebuild:{OWN_ARN}:project/triton-fleet-dev-{name}"
                    for name in ("engines-job", "images")
                ],
            ),
            "ReadBuildLogs": ("logs:GetLogEvents", BUILD_LOGS),
            "CopyImages": (
                [
                    "ecr:BatchCheckLayerAvailability",
                    "ecr:CompleteLayerUpload",
                    "ecr:InitiateLayerUpload",
                    "ecr:PutImage",
                    "ecr:UploadLayerPart",
                ],
                ecr,
            ),
        }

    def test_what_is_published_is_in_these_prefixes_and_captured_calls_are_not(self) -> None:
        assert PUBLISHED_PREFIXES == (ARCHIVES, ENDPOINTS, ENGINES, IMAGES, RELEASES)

    def test_the_role_that_looks_for_drift_reads_no_archive_no_call_and_no_log(
        self, access_template: Template
    ) -> None:
        read = {type: list(actions) for type, actions in detected_types().items()}
        assert role_statements(access_template, "drift") == {
            "ListStacks": (
                ["cloudformation:DescribeStackDriftDetectionStatus", "cloudformation:DescribeStacks"],
                "*",
            ),
            "SeeStacks": (
                [
                    "cloudformation:DescribeStackResourceDrifts",
                    "cloudformation:DetectStackDrift",
                    "cloudformation:DetectStackResourceDrift",
                    "cloudformation:GetTemplate",
                    "cloudformation:ListStackResources",
                ],
                OWN_STACKS,
            ),
            **ENDPOINT_STATEMENTS,
            "SeeScaling": (
                [
                    "application-autoscaling:DescribeScalableTargets",
                    "application-autoscaling:DescribeScalingPolicies",
                    "application-autoscaling:DescribeScheduledActions",
                    "cloudwatch:DescribeAlarms",
                ],
                "*",
            ),
            "SeeDashboards": ("cloudwatch:GetDashboard", f"arn:aws:cloudwatch::{ACCOUNT}:dashboard/*"),
            "ReadParameters": (
                "ssm:GetParameter",
                f"arn:aws:ssm:{OWN_ARN}:parameter/triton-fleet/dev/alarm-topic/*",
            ),
            "SeeRoles": (
                ["iam:GetRole", "iam:GetRolePolicy", "iam:ListAttachedRolePolicies", "iam:ListRolePolicies"],
                f"arn:aws:iam::{ACCOUNT}:role/triton-fleet-dev-*",
            ),
            "SeeRules": (read["AWS::Events::Rule"], f"arn:aws:events:{OWN_ARN}:rule/triton-fleet-dev-*"),
            "SeeFunctions": (
                read["AWS::Lambda::Function"],
                f"arn:aws:lambda:{OWN_ARN}:function:triton-fleet-dev-*",
            ),
            "SeeLogGroups": (read["AWS::Logs::LogGroup"], f"arn:aws:logs:{OWN_ARN}:log-group:*"),
            "SeeBuckets": (read["AWS::S3::Bucket"], "arn:aws:s3:::triton-fleet-dev-*"),
            "SeeTopics": (read["AWS::SNS::Topic"], f"arn:aws:sns:{OWN_ARN}:triton-fleet-dev-*"),
        }

    @pytest.mark.parametrize(
        "access_template", [GITHUB.replace("@23}", "@23, promotes_to: [prod]}")], indirect=True
    )
    def test_a_promotion_reads_what_is_published_and_what_runs(self, access_template: Template) -> None:
        assert role_statements(access_template, "promotion") == {
            **ENDPOINT_STATEMENTS,
            "ListArtifacts": ("s3:ListBucket", BUCKET),
            "ReadArtifacts": ("s3:GetObject", [f"{BUCKET}/{prefix}*" for prefix in PUBLISHED_PREFIXES]),
            "ReadImages": (
                ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
                f"arn:aws:ecr:{OWN_ARN}:repository/triton-fleet-dev",
            ),
        }

    def test_a_bootstrap_with_another_qualifier_is_the_one_that_is_used(self, folder: FleetFolder) -> None:
        folder.environment(GITHUB)
        app = App(context={"@aws-cdk/core:bootstrapQualifier": "mlfleet"})
        add_fleet(app, resolve_project(open_project(folder.root, "dev")))
        (foundation,) = [stack for stack in app.synth().stacks if stack.stack_name == FOUNDATION]
        values = role_statements(Template.from_json(foundation.template), "deploy")
        assert (
            f"arn:aws:iam::{ACCOUNT}:role/cdk-mlfleet-deploy-role-{ACCOUNT}-us-east-1"
            in values["ActAsCdk"][1]
        )
        assert f"arn:aws:ssm:{OWN_ARN}:parameter/cdk-bootstrap/mlfleet/version" in values["ReadParameters"][1]
