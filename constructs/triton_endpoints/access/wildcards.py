"""Resources that roles of a repository's jobs are granted by a wildcard."""

from __future__ import annotations

from triton_endpoints.wildcards import Wildcard
from triton_fleet.catalog.cloudformation import detected_types

IN_STACKS = ("AWS::Events::Rule", "AWS::Lambda::Function", "AWS::S3::Bucket", "AWS::SNS::Topic")
"""Types whose resources have the name of their stack in their ARN."""

ACCESS_WILDCARDS = (
    Wildcard(
        r"arn:[^:]+:cloudformation:[^:]+:\d+:stack/(triton-fleet-[a-z0-9]+(-|/)|CDKToolkit/)\*",
        frozenset(
            {
                "cloudformation:ContinueUpdateRollback",
                "cloudformation:DescribeStackEvents",
                "cloudformation:DescribeStackResources",
                "cloudformation:DescribeStacks",
                "cloudformation:GetTemplate",
                "cloudformation:ListStackResources",
                "cloudformation:UpdateTerminationProtection",
            }
        ),
        "the stacks of the environment, whose ARNs end with what CloudFormation makes; no other environment's"
        " begin so, as no name of one has a hyphen; of the CDK's own only its state is read",
    ),
    Wildcard(
        r"arn:[^:]+:sagemaker:[^:]+:\d+:model/\*",
        frozenset({"sagemaker:DescribeModel"}),
        "CloudFormation names models; a condition spares those of other environments",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/owners/\*",
        frozenset({"s3:PutObject"}),
        "records of which endpoint may have which content, for the role that deploys; no other role writes"
        " there",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/(archives|endpoints|engines|images|releases)/\*",
        frozenset(
            {
                "s3:AbortMultipartUpload",
                "s3:GetObject",
                "s3:GetObjectVersion",
                "s3:PutObject",
            }
        ),
        "what is published, for the roles of the environment's repository: objects named by their content and"
        " by endpoints; the bucket keeps versions, and captured calls are not among them",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/uploads/\*",
        frozenset({"s3:GetObject"}),
        "what people upload for the environment's endpoints: a job that publishes reads it, by the specs",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/(archives|engines|images)/\*",
        frozenset({"s3:DeleteObject"}),
        "leases and failures of builds, which are named by what is built, and uploads that S3 stored wrongly;"
        " the bucket keeps versions",
    ),
    Wildcard(
        r"arn:[^:]+:logs:[^:]+:\d+:log-group:/triton-fleet/[a-z0-9]+/(engines|images):log-stream:\*",
        frozenset({"logs:GetLogEvents"}),
        "the logs of the environment's own builds, a stream for each",
    ),
    Wildcard(
        r"arn:[^:]+:iam::\d+:role/triton-fleet-[a-z0-9]+-?\*",
        frozenset(
            {"iam:GetRole", "iam:GetRolePolicy", "iam:ListAttachedRolePolicies", "iam:ListRolePolicies"}
        ),
        "the roles of the environment's stacks, which CloudFormation names after them; they are only read",
    ),
    Wildcard(
        r"\*",
        frozenset(
            {
                "cloudformation:DescribeStackDriftDetectionStatus",
                "cloudformation:DescribeStacks",
            }
        ),
        "what lists stacks and asks about a detection names none; it reads no template",
    ),
    Wildcard(
        r"arn:[^:]+:(cloudformation|events|lambda|s3|sns):[^:]*:\d*:"
        r"(stack/|rule/|function:)?triton-fleet-[a-z0-9]*[-/]?\*",
        frozenset(
            {
                "cloudformation:DescribeStackResourceDrifts",
                "cloudformation:DetectStackDrift",
                "cloudformation:DetectStackResourceDrift",
                "cloudformation:GetTemplate",
                "cloudformation:ListStackResources",
                *(action for type in IN_STACKS for action in detected_types()[type]),
            }
        ),
        "the environment's own stacks and what they hold, which CloudFormation names after them; settings are"
        " read, and names of objects, but no object",
    ),
    Wildcard(
        r"arn:[^:]+:logs:[^:]+:\d+:log-group:\*",
        frozenset(detected_types()["AWS::Logs::LogGroup"]),
        "log groups are named after functions and endpoints; their settings are read, and no line",
    ),
    Wildcard(
        r"arn:[^:]+:cloudwatch::\d+:dashboard/\*",
        frozenset({"cloudwatch:GetDashboard"}),
        "dashboards have names that CloudFormation makes of logical ids alone; they are only read",
    ),
    Wildcard(
        r"arn:[^:]+:ssm:[^:]+:\d+:parameter/triton-fleet/[a-z0-9]+/alarm-topic/\*",
        frozenset({"ssm:GetParameter"}),
        "the topics of the environment's alarms, one for each severity and owner",
    ),
)
