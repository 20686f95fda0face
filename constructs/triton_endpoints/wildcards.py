"""Resources that are granted by a wildcard: each form with its actions and the reason.

`triton_endpoints.access.roles` has those of the roles of a repository's jobs.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Wildcard:
    """Resources of one form that may be granted with some actions, and why."""

    form: str
    actions: frozenset[str]
    reason: str


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
        frozenset(
            {"logs:CreateLogGroup", "logs:CreateLogStream", "logs:DescribeLogStreams", "logs:PutLogEvents"}
        ),
        "the streams of the endpoint's own log groups, which are named by instance; those of builds"
        " and of SageMaker's jobs, whose groups all jobs of account and region share",
    ),
    Wildcard(
        r"\*",
        frozenset(
            {
                "ec2:DescribeDhcpOptions",
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSubnets",
                "ec2:DescribeVpcs",
            }
        ),
        "with a VPC alone: what describes networks knows no resources",
    ),
    Wildcard(
        r"arn:[^:]+:ec2:[^:]+:\d+:network-interface/\*",
        frozenset(
            {
                "ec2:CreateNetworkInterface",
                "ec2:CreateNetworkInterfacePermission",
                "ec2:DeleteNetworkInterface",
                "ec2:DeleteNetworkInterfacePermission",
            }
        ),
        "with a VPC alone: EC2 names new interfaces, and SageMaker's guide warns of conditions on these",
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
        frozenset(
            {
                "logs:AssociateKmsKey",
                "logs:CreateLogGroup",
                "logs:DisassociateKmsKey",
                "logs:PutRetentionPolicy",
                "logs:TagResource",
                "logs:UntagResource",
            }
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
                "application-autoscaling:DescribeScalingActivities",
                "application-autoscaling:DescribeScalingPolicies",
                "application-autoscaling:DescribeScheduledActions",
                "cloudwatch:DescribeAlarms",
            }
        ),
        "what describes scaling knows no resources, and Application Auto Scaling asks for all alarms",
    ),
    Wildcard(
        r"arn:[^:]+:application-autoscaling:[^:]+:\d+:scalable-target/\*",
        frozenset(
            {
                "application-autoscaling:DeleteScalingPolicy",
                "application-autoscaling:DeregisterScalableTarget",
                "application-autoscaling:PutScalingPolicy",
                "application-autoscaling:PutScheduledAction",
                "application-autoscaling:RegisterScalableTarget",
            }
        ),
        "AWS makes the ARNs of targets, and one registered by hand has no tag: it may change all of"
        " SageMaker's variants in account and region, to which a condition holds it",
    ),
    Wildcard(
        r"arn:[^:]+:application-autoscaling:[^:]+:\d+:scalable-target/\*",
        frozenset({"application-autoscaling:ListTagsForResource", "application-autoscaling:TagResource"}),
        "a target that is registered again keeps its tags; AWS makes the ARNs, and a condition spares targets"
        " of other environments",
    ),
    Wildcard(
        r"arn:[^:]+:cloudwatch:[^:]+:\d+:alarm:TargetTracking-endpoint/\*",
        frozenset({"cloudwatch:DeleteAlarms", "cloudwatch:PutMetricAlarm"}),
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
        frozenset({"sagemaker:DescribeEndpoint", "sagemaker:DescribeEndpointConfig"}),
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
        "the check calls the endpoint that a stack names; specs name endpoints, and a condition spares those"
        " of other environments",
    ),
    Wildcard(
        r"arn:[^:]+:cloudformation:[^:]+:\d+:stack/triton-fleet-[^*]+-\*",
        frozenset({"cloudformation:DescribeStacks"}),
        "what serves all endpoint stacks of the environment",
    ),
    Wildcard(
        r"arn:[^:]+:cloudformation:[^:]+:\d+:stack/\*",
        frozenset({"cloudformation:DescribeStacks"}),
        "stacks of other apps have any name: a condition holds it to those with the tag of stacks that have"
        " endpoints of the environment",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/scaling-guard/\*",
        frozenset({"s3:DeleteObject", "s3:GetObject", "s3:PutObject"}),
        "scalings that are put aside, one object for each variant of the environment",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/engines/(onnx|plans|scripts)/\*",
        frozenset({"s3:GetObject", "s3:GetObjectVersion"}),
        "ONNX models, scripts, requests and engines, which are named by their content",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/engines/plans/\*/(model\.plan|manifest\.json|failure\.json)",
        frozenset({"s3:AbortMultipartUpload", "s3:PutObject"}),
        "what comes of builds, named by the engine's key, and no requests of other builds; plans and"
        " manifests that exist stay as they are, it may not delete, and the bucket keeps versions",
    ),
    Wildcard(
        r"arn:[^:]+:s3:::[^/]+/engines/jobs/\*",
        frozenset({"s3:AbortMultipartUpload", "s3:DeleteObject", "s3:GetObject", "s3:PutObject"}),
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
        frozenset(
            {
                "sagemaker:AddTags",
                "sagemaker:CreateProcessingJob",
                "sagemaker:CreateTrainingJob",
                "sagemaker:DescribeProcessingJob",
                "sagemaker:DescribeTrainingJob",
                "sagemaker:StopProcessingJob",
                "sagemaker:StopTrainingJob",
            }
        ),
        "jobs of engines, named by the engine's key: those of account and region",
    ),
    Wildcard(
        r"arn:[^:]+:logs:[^:]+:\d+:log-group:/aws/sagemaker/(Processing|Training)Jobs:log-stream:engine-\*",
        frozenset({"logs:GetLogEvents"}),
        "the streams of those jobs, which begin with their names",
    ),
    Wildcard(
        r"arn:[^:]+:ecr:[^:]+:\d+:repository/\*",
        frozenset({"ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer"}),
        "accounts whose images the environment allows in Dockerfiles, not its own; their policies decide too",
    ),
)

GIVEN_DATA = Wildcard(
    r"arn:[^:]+:s3:::[^/*]+/([^*]+/)?\*",
    frozenset({"s3:GetObject"}),
    "the endpoint's own model data, below the prefix that its app names",
)
"""Meant where model data is given: a prefix of somebody else's, which no pattern of ours knows."""

ASSEMBLY = Wildcard(
    r"arn:[^:]+:s3:::[^/*]+/(engines/(onnx|scripts)/\*|engines/plans/\*/request\.json|repositories/\*)",
    frozenset({"s3:AbortMultipartUpload", "s3:GetObject", "s3:PutObject"}),
    "inputs of builds and model data that a deploy assembles, which are named by their content; it may not"
    " delete, and writes no plan",
)
"""Meant where an app's deploy has engines built."""
