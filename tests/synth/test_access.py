"""What the roles of `access` may do; see test_access_trust.py for whom they trust, test_invokers.py for roles of specs."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App
from aws_cdk.assertions import Template

from fleet.catalog.drift import detected_types
from fleet.endpoint.object_keys import ARCHIVES, ENDPOINTS, OWNERS, RELEASES
from fleet.endpoint.resolve import resolve_fleet
from fleet.engines.object_keys import ENGINES
from fleet.images.object_keys import IMAGES
from fleet_folder import FleetFolder
from fleet_stacks.fleet_app import add_fleet
from tests.synth.conftest import templates
from triton_endpoints.access.permissions import PUBLISHED

FOUNDATION = "triton-fleet-dev"
ACCOUNT, HERE = "111122223333", "us-east-1:111122223333"
BUCKET = f"arn:aws:s3:::triton-fleet-dev-{ACCOUNT}-us-east-1"
GITHUB = "access: {github: {repository: example@1/fleet@23}}\n"
NAMES = {role: f"triton-fleet-dev-us-east-1-{role}" for role in ("deploy", "drift", "promotion")}
OWN_STACKS = [f"arn:aws:cloudformation:{HERE}:stack/triton-fleet-dev{end}" for end in ("/*", "-*")]
SPARED = {"StringEqualsIfExists": {"aws:ResourceTag/triton-fleet:environment": "dev"}}
ENDPOINT_STATEMENTS = {
    f"See{kind}s": (f"sagemaker:Describe{kind}", f"arn:aws:sagemaker:{HERE}:{resource}/*", SPARED)
    for kind, resource in (
        ("Endpoint", "endpoint"),
        ("EndpointConfig", "endpoint-config"),
        ("Model", "model"),
    )
}
LIST = ["s3:ListBucket", "s3:ListBucketMultipartUploads", "s3:ListBucketVersions"]
BUILD_LOGS = [
    f"arn:aws:logs:{HERE}:log-group:/triton-fleet/dev/{name}:log-stream:*" for name in ("engines", "images")
]


@pytest.fixture
def made(folder: FleetFolder, request: pytest.FixtureRequest) -> Template:
    """Foundation with the access that a test asks for."""
    folder.environment(getattr(request, "param", GITHUB))
    return templates(folder)[FOUNDATION]


def granted(made: Template, role: str) -> dict[str, tuple[Any, ...]]:
    """What a role may do: action, resource and condition by statement."""
    roles = made.find_resources("AWS::IAM::Role")
    (id,) = [id for id, each in roles.items() if each["Properties"].get("RoleName") == NAMES[role]]
    (policy,) = [
        each["Properties"]["PolicyDocument"]["Statement"]
        for each in made.find_resources("AWS::IAM::Policy").values()
        if each["Properties"]["Roles"] == [{"Ref": id}]
    ]
    keys = ("Action", "Resource", "Condition")
    return {each["Sid"]: tuple(each[key] for key in keys if key in each) for each in policy}


class TestPermissions:
    def test_the_role_that_deploys_acts_as_the_cdk_and_publishes_and_no_more(self, made: Template) -> None:
        found = granted(made, "deploy")
        iam, ecr = f"arn:aws:iam::{ACCOUNT}:role", f"arn:aws:ecr:{HERE}:repository/triton-fleet-dev"
        (read, (own, *releases)) = found.pop("ReadImages")
        assert (read, own) == ("ecr:BatchGetImage", ecr)
        assert {each.rpartition(":")[2] for each in releases} == {"repository/sagemaker-tritonserver"}
        assert found == {
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
                    f"arn:aws:ssm:{HERE}:parameter/cdk-bootstrap/hnb659fds/version",
                    f"arn:aws:ssm:{HERE}:parameter/triton-fleet/dev/engine-job-role",
                ],
            ),
            "SeeStacks": (
                [
                    "cloudformation:DescribeStackEvents",
                    "cloudformation:DescribeStackResources",
                    "cloudformation:DescribeStacks",
                    "cloudformation:GetTemplate",
                ],
                [*OWN_STACKS, f"arn:aws:cloudformation:{HERE}:stack/CDKToolkit/*"],
            ),
            "RepairStacks": (
                ["cloudformation:ContinueUpdateRollback", "cloudformation:UpdateTerminationProtection"],
                OWN_STACKS,
            ),
            **ENDPOINT_STATEMENTS,
            "ListArtifacts": (LIST, BUCKET),
            "PublishArtifacts": (
                ["s3:AbortMultipartUpload", "s3:GetObject", "s3:GetObjectVersion", "s3:PutObject"],
                [f"{BUCKET}/{prefix}*" for prefix in PUBLISHED],
            ),
            "EndAttempts": (
                "s3:DeleteObject",
                [f"{BUCKET}/{each}/*" for each in ("archives", "engines", "images")],
            ),
            "ReadUploads": ("s3:GetObject", f"{BUCKET}/uploads/*"),
            "RecordOwners": ("s3:PutObject", f"{BUCKET}/{OWNERS}*"),
            "ReadReleases": ("ecr:GetDownloadUrlForLayer", releases),
            "Build": (
                ["codebuild:BatchGetBuilds", "codebuild:StartBuild", "codebuild:StopBuild"],
                [
                    f"arn:aws:codebuild:{HERE}:project/triton-fleet-dev-{name}"
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
        assert PUBLISHED == (ARCHIVES, ENDPOINTS, ENGINES, IMAGES, RELEASES)

    def test_the_role_that_looks_for_drift_reads_no_archive_no_call_and_no_log(self, made: Template) -> None:
        read = {type: list(actions) for type, actions in detected_types().items()}
        assert granted(made, "drift") == {
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
                f"arn:aws:ssm:{HERE}:parameter/triton-fleet/dev/alarm-topic/*",
            ),
            "SeeRoles": (
                ["iam:GetRole", "iam:GetRolePolicy", "iam:ListAttachedRolePolicies", "iam:ListRolePolicies"],
                f"arn:aws:iam::{ACCOUNT}:role/triton-fleet-dev-*",
            ),
            "SeeRules": (read["AWS::Events::Rule"], f"arn:aws:events:{HERE}:rule/triton-fleet-dev-*"),
            "SeeFunctions": (
                read["AWS::Lambda::Function"],
                f"arn:aws:lambda:{HERE}:function:triton-fleet-dev-*",
            ),
            "SeeLogGroups": (read["AWS::Logs::LogGroup"], f"arn:aws:logs:{HERE}:log-group:*"),
            "SeeBuckets": (read["AWS::S3::Bucket"], "arn:aws:s3:::triton-fleet-dev-*"),
            "SeeTopics": (read["AWS::SNS::Topic"], f"arn:aws:sns:{HERE}:triton-fleet-dev-*"),
        }

    @pytest.mark.parametrize("made", [GITHUB.replace("@23}", "@23, promotes_to: [prod]}")], indirect=True)
    def test_a_promotion_reads_what_is_published_and_what_runs(self, made: Template) -> None:
        assert granted(made, "promotion") == {
            **ENDPOINT_STATEMENTS,
            "ListArtifacts": ("s3:ListBucket", BUCKET),
            "ReadArtifacts": ("s3:GetObject", [f"{BUCKET}/{prefix}*" for prefix in PUBLISHED]),
            "ReadImages": (
                ["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"],
                f"arn:aws:ecr:{HERE}:repository/triton-fleet-dev",
            ),
        }

    def test_a_bootstrap_with_another_qualifier_is_the_one_that_is_used(self, folder: FleetFolder) -> None:
        folder.environment(GITHUB)
        app = App(context={"@aws-cdk/core:bootstrapQualifier": "mlfleet"})
        add_fleet(app, resolve_fleet(folder.root, "dev"))
        (foundation,) = [each for each in app.synth().stacks if each.stack_name == FOUNDATION]
        found = granted(Template.from_json(foundation.template), "deploy")
        assert (
            f"arn:aws:iam::{ACCOUNT}:role/cdk-mlfleet-deploy-role-{ACCOUNT}-us-east-1" in found["ActAsCdk"][1]
        )
        assert f"arn:aws:ssm:{HERE}:parameter/cdk-bootstrap/mlfleet/version" in found["ReadParameters"][1]
