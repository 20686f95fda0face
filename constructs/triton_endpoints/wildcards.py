"""Resources that are granted by a wildcard: each form with its actions and the reason."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.catalog.drift import detected_types


@dataclass(frozen=True)
class Wildcard:
    """Resources of one form that may be granted with some actions, and why."""

    form: str
    actions: frozenset[str]
    reason: str


def _actions(service: str, names: str) -> frozenset[str]:
    return frozenset(f"{service}:{name}" for name in names.split())


ATTACHING = "with a VPC alone: EC2 names new interfaces, and SageMaker's guide warns of conditions on these"

IN_STACKS = ("AWS::Events::Rule", "AWS::Lambda::Function", "AWS::S3::Bucket", "AWS::SNS::Topic")
"""Types whose resources have the name of their stack in their ARN."""

WILDCARDS = (
    Wildcard(
        r"\*",
        frozenset({"ecr:GetAuthorizationToken", "cloudwatch:PutMetricData"}),
        "these two know no resources; a condition holds metrics to the namespaces of SageMaker's instances or"
        " jobs, and of the endpoint's own",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/endpoints/[^/]+/\*",
        frozenset({"s3:GetObject"}),
        "the endpoint's own archives: the new one, and the old one that still scales out during a rollout",
    ),
    Wildcard(
        r"arn:[^:]+:logs:[^:]+:\d+:log-group:[^*]+:\*",
        _actions("logs", "CreateLogGroup CreateLogStream DescribeLogStreams PutLogEvents"),
        "the streams of the endpoint's own log groups, which are named by instance; those of builds"
        " and of SageMaker's jobs, whose groups all jobs of account and region share",
    ),
    Wildcard(
        r"\*",
        _actions(
            "ec2",
            "DescribeDhcpOptions DescribeNetworkInterfaces DescribeSecurityGroups DescribeSubnets "
            "DescribeVpcs",
        ),
        "with a VPC alone: what describes networks knows no resources",
    ),
    Wildcard(
        r"arn:[^:]+:ec2:[^:]+:\d+:network-interface/\*",
        _actions(
            "ec2",
            "CreateNetworkInterface CreateNetworkInterfacePermission DeleteNetworkInterface "
            "DeleteNetworkInterfacePermission",
        ),
        ATTACHING,
    ),
    Wildcard(
        r"arn:[^:]+:ec2:[^:]+:\*:(subnet|security-group)/[^*]+",
        frozenset({"ec2:CreateNetworkInterface"}),
        "one subnet or security group, which another account may share: its ids are in no other account",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/capture/[^/]+/\*",
        frozenset({"s3:PutObject"}),
        "the endpoint's own captured calls, in objects that SageMaker names by time",
    ),
    Wildcard(
        r"arn:[^:]+:logs:[^:]+:\d+:log-group:(/aws/sagemaker/Endpoints|/triton-fleet)/\*",
        _actions(
            "logs",
            "AssociateKmsKey CreateLogGroup DisassociateKmsKey PutRetentionPolicy TagResource UntagResource",
        ),
        "one function owns the log groups of the environment's endpoints, which share these prefixes with all"
        " endpoints of account and region; a condition spares those of other environments, and one that a"
        " container made has no tag; it reads and deletes none",
    ),
    Wildcard(
        r"\*",
        frozenset(
            {
                "application-autoscaling:DescribeScalableTargets",
                "application-autoscaling:DescribeScalingPolicies",
                "application-autoscaling:DescribeScheduledActions",
                "cloudwatch:DescribeAlarms",
            }
        ),
        "what describes scaling knows no resources, and Application Auto Scaling asks for all alarms",
    ),
    Wildcard(
        r"arn:[^:]+:application-autoscaling:[^:]+:\d+:scalable-target/\*",
        _actions(
            "application-autoscaling",
            "DeregisterScalableTarget PutScalingPolicy PutScheduledAction RegisterScalableTarget",
        ),
        "AWS makes the ARNs of targets, and none has a tag: it may change all of SageMaker's variants in"
        " account and region, to which a condition holds it",
    ),
    Wildcard(
        r"arn:[^:]+:cloudwatch:[^:]+:\d+:alarm:TargetTracking-endpoint/\*",
        _actions("cloudwatch", "DeleteAlarms PutMetricAlarm"),
        "Application Auto Scaling names these alarms, for all SageMaker variants in account and region, and"
        " gives them no tag",
    ),
    Wildcard(
        r"arn:[^:]+:cloudwatch:[^:]+:\d+:alarm:TritonFleet/[^/]+/rollback/\*",
        frozenset({"cloudwatch:DescribeAlarms"}),
        "the alarms that roll the endpoint's rollouts back, which are new with each configuration",
    ),
    Wildcard(
        r"arn:[^:]+:sagemaker:[^:]+:\d+:endpoint(-config)?/\*",
        _actions("sagemaker", "DescribeEndpoint DescribeEndpointConfig"),
        "read alone; specs name endpoints, CloudFormation configurations, and a condition spares those of"
        " other environments",
    ),
    Wildcard(
        r"arn:[^:]+:sagemaker:[^:]+:\d+:endpoint/\*",
        frozenset({"sagemaker:UpdateEndpointWeightsAndCapacities"}),
        "Application Auto Scaling asks the caller that registers a target; specs name endpoints, and a"
        " condition spares those of other environments",
    ),
    Wildcard(
        r"arn:[^:]+:sagemaker:[^:]+:\d+:endpoint/\*",
        frozenset({"sagemaker:InvokeEndpoint"}),
        "the check calls endpoints that have the environment's tag, to which a condition holds it",
    ),
    Wildcard(
        r"arn:[^:]+:cloudformation:[^:]+:\d+:stack/triton-fleet-[^*]+-\*",
        frozenset({"cloudformation:DescribeStacks"}),
        "what serves all endpoint stacks of the environment",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/scaling-guard/\*",
        _actions("s3", "DeleteObject GetObject PutObject"),
        "scalings that are put aside, one object for each variant of the environment",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/engines/(onnx|plans|scripts)/\*",
        _actions("s3", "GetObject GetObjectVersion"),
        "ONNX models, scripts, requests and engines, which are named by their content",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/engines/plans/\*/(model\.plan|manifest\.json|failure\.json)",
        _actions("s3", "AbortMultipartUpload PutObject"),
        "what comes of builds, named by the engine's key, and no requests of other builds; plans and"
        " manifests that exist stay as they are, it may not delete, and the bucket keeps versions",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/engines/jobs/\*",
        _actions("s3", "AbortMultipartUpload DeleteObject GetObject PutObject"),
        "inputs and outputs of jobs that run, which are named by the engine's key; containers of jobs have no"
        " credentials",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/images/(contexts|built)/\*",
        frozenset({"s3:GetObject"}),
        "build contexts and requests of images, which are named by their content",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/images/built/\*/(manifest|failure|draft)\.json",
        frozenset({"s3:PutObject"}),
        "records of builds, named by the image's key; a manifest that exists stays as it is",
    ),
    Wildcard(
        r"arn:[^:]+:sagemaker:[^:]+:\d+:(processing|training)-job/engine-\*",
        _actions(
            "sagemaker",
            "AddTags CreateProcessingJob CreateTrainingJob DescribeProcessingJob DescribeTrainingJob "
            "StopProcessingJob StopTrainingJob",
        ),
        "jobs of engines, named by the engine's key: those of account and region",
    ),
    Wildcard(
        r"arn:[^:]+:logs:[^:]+:\d+:log-group:/aws/sagemaker/(Processing|Training)Jobs:log-stream:engine-\*",
        frozenset({"logs:GetLogEvents"}),
        "the streams of those jobs, which begin with their names",
    ),
    Wildcard(
        r"arn:[^:]+:cloudformation:[^:]+:\d+:stack/(triton-fleet-[a-z0-9]+(-|/)|CDKToolkit/)\*",
        _actions(
            "cloudformation",
            "ContinueUpdateRollback DescribeStackEvents DescribeStackResources DescribeStacks GetTemplate "
            "ListStackResources UpdateTerminationProtection",
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
        _actions("s3", "AbortMultipartUpload GetObject GetObjectVersion PutObject"),
        "what is published, for the roles of the environment's repository: objects named by their content and"
        " by endpoints; the bucket keeps versions, and captured calls are not among them",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/uploads/\*",
        frozenset({"s3:GetObject"}),
        "what people upload for the environment's endpoints: a job that publishes reads it, by the specs",
    ),
    Wildcard(
        r"arn:[^:]+:ecr:[^:]+:\d+:repository/\*",
        _actions("ecr", "BatchCheckLayerAvailability BatchGetImage GetDownloadUrlForLayer"),
        "accounts whose images the environment allows in Dockerfiles, not its own; their policies decide too",
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
        _actions("iam", "GetRole GetRolePolicy ListAttachedRolePolicies ListRolePolicies"),
        "the roles of the environment's stacks, which CloudFormation names after them; they are only read",
    ),
    Wildcard(
        r"\*",
        _actions("cloudformation", "DescribeStackDriftDetectionStatus DescribeStacks"),
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

GIVEN_DATA = Wildcard(
    r"arn:[^:]+:s3:::[^/*]+/([^*]+/)?\*",
    frozenset({"s3:GetObject"}),
    "the endpoint's own model data, below the prefix that its app names",
)
"""Meant where model data is given: a prefix of somebody else's, which no pattern of ours knows."""
