"""The scaling guard, which keeps scaling and updates of an endpoint apart, and lets its instance type change.

SageMaker refuses to change or delete an endpoint while instances come and go, and to update a variant's
instance type while it is registered with Application Auto Scaling.
"""

from __future__ import annotations

from collections.abc import Iterable

from aws_cdk import CfnResource
from constructs import Construct

from triton_endpoints.lambda_function import Step, see_stacks, waiting_provider
from triton_endpoints.policy import Statement, spare_other_environments, use_key
from triton_fleet.spec.deployment import Deployment

NOUN = "scaling-guard"
SECONDS = 120
"""Of one look."""
SECONDS_BETWEEN = 20
SECONDS_TO_WAIT = 3000
"""For an endpoint under way: an instance takes about 12 minutes to start, lack of capacity shows after 31."""
TOTAL_MINUTES = 58
"""Longer than the last look may take."""
CLEANUP_SECONDS = 300
"""SageMaker deletes network interfaces and key grants some minutes after the endpoint, by its role.

Source: SageMaker API reference, DeleteEndpoint.
"""
STORAGE_PATTERN = "scaling-guard/*"
SEE_SCALING = [
    "application-autoscaling:DescribeScalableTargets",
    "application-autoscaling:DescribeScalingPolicies",
    "application-autoscaling:DescribeScheduledActions",
]
SEE_ACTIVITIES = ["application-autoscaling:DescribeScalingActivities", "cloudwatch:DescribeAlarms"]
CHANGE_SCALING = [
    "application-autoscaling:DeleteScalingPolicy",
    "application-autoscaling:DeregisterScalableTarget",
    "application-autoscaling:PutScalingPolicy",
    "application-autoscaling:PutScheduledAction",
    "application-autoscaling:RegisterScalableTarget",
]
KEEP_TAGS = ["application-autoscaling:ListTagsForResource", "application-autoscaling:TagResource"]
CHANGE_ALARMS = ["cloudwatch:DeleteAlarms", "cloudwatch:PutMetricAlarm"]
OF_VARIANTS = {
    "application-autoscaling:service-namespace": "sagemaker",
    "application-autoscaling:scalable-dimension": "sagemaker:variant:DesiredInstanceCount",
}


class ScalingGuard(Construct):
    """The functions that keep scaling aside during an update, and bring it back.

    Endpoint stacks know those of an environment by the name that follows from it.
    """

    def __init__(self, scope: Construct, id: str, *, deployment: Deployment, is_shared: bool = True) -> None:
        """Declare the functions.

        Args:
            scope: The parent.
            id: The construct's own.
            deployment: The environment, with the bucket in which they keep the scaling.
            is_shared: Whether all stacks of the environment call them, or only their own.
        """
        super().__init__(scope, id)
        begin = "Starts the scaling guard for an update of an endpoint"
        look = "Suspends the scaling of a variant during an update, and restores it"
        self.service_token = waiting_provider(
            self,
            NOUN,
            deployment=deployment,
            module="scaling_guard.handler",
            begin=Step("Function", "handler", begin, SECONDS),
            look=Step("Look", "is_complete", look, SECONDS),
            statements=_statements(deployment, is_shared=is_shared),
            environment={"BUCKET": deployment.bucket, "SECONDS": str(SECONDS_TO_WAIT)},
            seconds_between=SECONDS_BETWEEN,
            total_minutes=TOTAL_MINUTES,
            is_shared=is_shared,
        )


class GuardedUpdate(Construct):
    """The two moments of an update: `before` the endpoint changes, and `after` it has."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        service_token: str,
        endpoint: str,
        variant: str,
        instance: str,
        config_name: str,
        is_cleaned_up: bool,
    ) -> None:
        """Guard the updates of an endpoint.

        Args:
            scope: The parent.
            id: The construct's own.
            service_token: The ARN of what is called.
            endpoint: The endpoint's name.
            variant: Its variant's name.
            instance: The variant's instance type.
            config_name: The configuration's name, as a reference to it: each one is an update. As the
                configuration's model needs the role's policies, they are deleted only after `before`.
            is_cleaned_up: Whether SageMaker cleans up after the endpoint with the endpoint's role.
        """
        super().__init__(scope, id)
        properties: dict[str, object] = {
            "ServiceToken": service_token,
            "EndpointName": endpoint,
            "VariantName": variant,
            "InstanceType": instance,
            "EndpointConfigName": config_name,
        }
        looks = {"CleanupLooks": CLEANUP_SECONDS // SECONDS_BETWEEN} if is_cleaned_up else {}
        self.before = self._step("before", properties | looks)
        self.after = self._step("after", properties)

    def name_policies(self, policies: Iterable[str]) -> None:
        """Name the stack's own scaling policies: those that CloudFormation replaces are deleted in time."""
        for step in (self.before, self.after):
            step.add_property_override("Policies", sorted(policies))

    def _step(self, step: str, update_properties: dict[str, object]) -> CfnResource:
        properties = {**update_properties, "Step": step}
        return CfnResource(self, step.capitalize(), type="Custom::ScalingGuard", properties=properties)


def _statements(deployment: Deployment, *, is_shared: bool) -> list[Statement]:
    return [
        Statement(sid="SeeScaling", actions=[*SEE_SCALING, *SEE_ACTIVITIES], resources=["*"]),
        Statement(
            sid="ChangeScaling",
            actions=CHANGE_SCALING,
            resources=[deployment.arn("application-autoscaling", "scalable-target/*")],
            conditions={"StringEquals": OF_VARIANTS},
        ),
        # Whoever registers a target with tags needs both; sources name conditions on tags alone for them.
        Statement(
            sid="KeepTags",
            actions=KEEP_TAGS,
            resources=[deployment.arn("application-autoscaling", "scalable-target/*")],
            conditions=spare_other_environments(deployment),
        ),
        # Application Auto Scaling asks its caller for what it does itself: the alarms of target tracking,
        # and the change of instances. Source: its user guide, security_iam_id-based-policy-examples.html.
        Statement(
            sid="ChangeAlarmsOfScaling",
            actions=CHANGE_ALARMS,
            resources=[deployment.arn("cloudwatch", "alarm:TargetTracking-endpoint/*")],
        ),
        # It tries the caller's permissions out on resources that do not exist, which have no tag. Source:
        # security_iam_permission_validation.html of the same guide.
        Statement(
            sid="ScaleEndpoints",
            actions=["sagemaker:UpdateEndpointWeightsAndCapacities"],
            resources=[deployment.arn("sagemaker", "endpoint/*")],
            conditions=spare_other_environments(deployment),
        ),
        Statement(
            sid="SeeEndpoints",
            actions=["sagemaker:DescribeEndpoint"],
            resources=[deployment.arn("sagemaker", "endpoint/*")],
            conditions=spare_other_environments(deployment),
        ),
        Statement(
            sid="SeeConfigurations",
            actions=["sagemaker:DescribeEndpointConfig"],
            resources=[deployment.arn("sagemaker", "endpoint-config/*")],
            conditions=spare_other_environments(deployment),
        ),
        *see_stacks(deployment, is_shared=is_shared),
        Statement(
            sid="KeepScaling",
            actions=["s3:DeleteObject", "s3:GetObject", "s3:PutObject"],
            resources=[f"{deployment.bucket_arn}/{STORAGE_PATTERN}"],
        ),
        Statement(
            sid="ListScaling",
            actions=["s3:ListBucket"],
            resources=[deployment.bucket_arn],
            conditions={"StringLike": {"s3:prefix": [STORAGE_PATTERN]}},
        ),
        # What is saved is in a bucket that may be encrypted with the environment's key.
        *use_key(deployment, "kms:Decrypt", "kms:GenerateDataKey"),
    ]
