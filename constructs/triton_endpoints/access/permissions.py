"""Permissions to deploy an environment from a repository, to detect drift, and to promote from it."""

from __future__ import annotations

from triton_endpoints.builds.project import BUCKET_KEY
from triton_endpoints.policy import Statement, spare_other_environments, use_key
from triton_endpoints.scaling_guard import SEE_SCALING
from triton_fleet.builds.engines.artifacts import ENGINES
from triton_fleet.builds.images.artifacts import IMAGES
from triton_fleet.catalog.cloudformation import detected_types
from triton_fleet.catalog.images import TRITON_REPOSITORY, registry_accounts
from triton_fleet.endpoint.bucket_keys import ARCHIVES, ENDPOINTS, OWNERS, RELEASES, UPLOADS
from triton_fleet.spec.deployment import Deployment

PUBLISHED_PREFIXES = (ARCHIVES, ENDPOINTS, ENGINES, IMAGES, RELEASES)
"""The prefixes of the bucket in which archives, engines, images and releases are."""
ATTEMPTS = (ARCHIVES, ENGINES, IMAGES)
"""Those with what another attempt deletes: leases and failures of builds, uploads that S3 stored wrongly."""
_BOOTSTRAP_ROLES = ("deploy", "file-publishing", "image-publishing", "lookup")
"""Source: the CDK's bootstrap-template.yaml."""
MAX_PREFIX_CHARACTERS = 24
"""Characters of a long stack name in what CloudFormation names after it: functions, roles and rules."""
_SEE_STACKS = ["cloudformation:DescribeStackEvents", "cloudformation:DescribeStackResources"]
_SEE_TEMPLATES = ["cloudformation:DescribeStacks", "cloudformation:GetTemplate"]
_PUSH = [
    "ecr:BatchCheckLayerAvailability",
    "ecr:CompleteLayerUpload",
    "ecr:InitiateLayerUpload",
    "ecr:PutImage",
    "ecr:UploadLayerPart",
]


def deploy_statements(deployment: Deployment, qualifier: str) -> list[Statement]:
    """`fleet deploy`, and as its target `fleet promote`: nothing is pruned or destroyed by a repository.

    `qualifier` is that of the CDK's bootstrap.
    """
    iam, end = (
        f"arn:{deployment.partition.name}:iam::{deployment.account}:role",
        f"{deployment.account}-{deployment.region}",
    )
    roles = [f"{iam}/cdk-{qualifier}-{name}-role-{end}" for name in _BOOTSTRAP_ROLES]
    parameters = (f"/cdk-bootstrap/{qualifier}/version", deployment.engine_job_role)
    own = deployment.arn("ecr", f"repository/{deployment.image_repository}")
    releases = [
        deployment.arn("ecr", f"repository/{TRITON_REPOSITORY}", account=account)
        for account in registry_accounts(deployment.region)
    ]
    groups = (deployment.engine_log_group, deployment.image_log_group)
    return [
        Statement(sid="ActAsCdk", actions=["sts:AssumeRole"], resources=roles),
        Statement(
            sid="ReadParameters",
            actions=["ssm:GetParameter"],
            resources=[deployment.arn("ssm", f"parameter{name}") for name in parameters],
        ),
        Statement(
            sid="SeeStacks",
            actions=[*_SEE_STACKS, *_SEE_TEMPLATES],
            resources=[*_stacks(deployment), deployment.arn("cloudformation", "stack/CDKToolkit/*")],
        ),
        Statement(
            sid="RepairStacks",
            actions=["cloudformation:ContinueUpdateRollback", "cloudformation:UpdateTerminationProtection"],
            resources=_stacks(deployment),
        ),
        *_endpoint_statements(deployment),
        Statement(
            sid="ListArtifacts",
            actions=["s3:ListBucket", "s3:ListBucketMultipartUploads", "s3:ListBucketVersions"],
            resources=[deployment.bucket_arn],
        ),
        Statement(
            sid="PublishArtifacts",
            actions=["s3:AbortMultipartUpload", "s3:GetObject", "s3:GetObjectVersion", "s3:PutObject"],
            resources=_below(deployment, PUBLISHED_PREFIXES),
        ),
        Statement(sid="EndAttempts", actions=["s3:DeleteObject"], resources=_below(deployment, ATTEMPTS)),
        Statement(
            sid="ReadUploads", actions=["s3:GetObject"], resources=[f"{deployment.bucket_arn}/{UPLOADS}*"]
        ),
        Statement(
            sid="Build",
            actions=["codebuild:BatchGetBuilds", "codebuild:StartBuild", "codebuild:StopBuild"],
            resources=[
                deployment.arn("codebuild", f"project/{deployment.build_project(kind)}")
                for kind in ("job", "image")
            ],
        ),
        Statement(
            sid="ReadBuildLogs",
            actions=["logs:GetLogEvents"],
            resources=[deployment.arn("logs", f"log-group:{group}:log-stream:*") for group in groups],
        ),
        # Publish lists records, and writes them; nothing reads or removes one.
        Statement(
            sid="RecordOwners", actions=["s3:PutObject"], resources=[f"{deployment.bucket_arn}/{OWNERS}*"]
        ),
        Statement(sid="ReadImages", actions=["ecr:BatchGetImage"], resources=[own, *releases]),
        Statement(sid="ReadReleases", actions=["ecr:GetDownloadUrlForLayer"], resources=releases),
        Statement(sid="CopyImages", actions=_PUSH, resources=[own]),
        *use_key(deployment, *BUCKET_KEY),
    ]


def drift_statements(deployment: Deployment) -> list[Statement]:
    """The calls of `fleet drift`, and of CloudFormation with its rights; no archive, call or log is read."""
    account, partition = deployment.account, deployment.partition.name
    prefix = f"{deployment.stack}-"[:MAX_PREFIX_CHARACTERS]
    read = {
        "AWS::Events::Rule": ("SeeRules", deployment.arn("events", f"rule/{prefix}*")),
        "AWS::Lambda::Function": ("SeeFunctions", deployment.arn("lambda", f"function:{prefix}*")),
        "AWS::Logs::LogGroup": ("SeeLogGroups", deployment.arn("logs", "log-group:*")),
        "AWS::S3::Bucket": ("SeeBuckets", f"arn:{partition}:s3:::{deployment.stack}-*"),
        "AWS::SNS::Topic": ("SeeTopics", deployment.arn("sns", f"{deployment.stack}-*")),
    }
    return [
        Statement(
            sid="ListStacks",  # neither names a stack
            actions=["cloudformation:DescribeStackDriftDetectionStatus", "cloudformation:DescribeStacks"],
            resources=["*"],
        ),
        Statement(
            sid="SeeStacks",
            actions=[
                "cloudformation:DescribeStackResourceDrifts",
                "cloudformation:DetectStackDrift",
                "cloudformation:DetectStackResourceDrift",
                "cloudformation:GetTemplate",
                "cloudformation:ListStackResources",
            ],
            resources=_stacks(deployment),
        ),
        *_endpoint_statements(deployment),
        Statement(sid="SeeScaling", actions=[*SEE_SCALING, "cloudwatch:DescribeAlarms"], resources=["*"]),
        Statement(
            sid="SeeDashboards",
            actions=["cloudwatch:GetDashboard"],
            resources=[f"arn:{partition}:cloudwatch::{account}:dashboard/*"],
        ),
        Statement(
            sid="ReadParameters",
            actions=["ssm:GetParameter"],
            resources=[
                deployment.arn("ssm", f"parameter/triton-fleet/{deployment.environment}/alarm-topic/*")
            ],
        ),
        Statement(
            sid="SeeRoles",
            actions=[
                "iam:GetRole",
                "iam:GetRolePolicy",
                "iam:ListAttachedRolePolicies",
                "iam:ListRolePolicies",
            ],
            resources=[f"arn:{partition}:iam::{account}:role/{prefix}*"],
        ),
        *(
            Statement(sid=sid, actions=list(detected_types()[type]), resources=[resource])
            for type, (sid, resource) in read.items()
        ),
    ]


def promotion_statements(deployment: Deployment) -> list[Statement]:
    """Read what `fleet promote` copies to another environment, and see that it is what runs."""
    own = deployment.arn("ecr", f"repository/{deployment.image_repository}")
    return [
        *_endpoint_statements(deployment),
        Statement(sid="ListArtifacts", actions=["s3:ListBucket"], resources=[deployment.bucket_arn]),
        Statement(
            sid="ReadArtifacts", actions=["s3:GetObject"], resources=_below(deployment, PUBLISHED_PREFIXES)
        ),
        Statement(
            sid="ReadImages", actions=["ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"], resources=[own]
        ),
        *use_key(deployment, "kms:Decrypt"),
    ]


def _stacks(deployment: Deployment) -> list[str]:
    return [deployment.arn("cloudformation", f"stack/{deployment.stack}{end}") for end in ("/*", "-*")]


def _below(deployment: Deployment, prefixes: tuple[str, ...]) -> list[str]:
    """Objects of the bucket below prefixes; captured calls and saved scalings are below none of them."""
    return [f"{deployment.bucket_arn}/{prefix}*" for prefix in prefixes]


def _endpoint_statements(deployment: Deployment) -> list[Statement]:
    """Endpoints have the names that their specs give them: a condition spares other environments'."""
    return [
        Statement(
            sid=f"See{kind}s",
            actions=[f"sagemaker:Describe{kind}"],
            resources=[deployment.arn("sagemaker", f"{resource}/*")],
            conditions=spare_other_environments(deployment),
        )
        for kind, resource in (
            ("Endpoint", "endpoint"),
            ("EndpointConfig", "endpoint-config"),
            ("Model", "model"),
        )
    ]
