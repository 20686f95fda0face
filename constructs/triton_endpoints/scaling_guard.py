"""What lets a scaled variant change its instance type: scaling steps aside for the update, and comes back.

SageMaker refuses to update a variant's instance type while it is registered with Application Auto Scaling.
"""

from __future__ import annotations

from aws_cdk import CfnResource
from constructs import Construct

from fleet.endpoint.resolved_endpoint import Deployment
from triton_endpoints.lambda_function import provider_of, see_stacks, service_token
from triton_endpoints.policy import Statement, spares_others, use_key

NOUN = "scaling-guard"
SECONDS = 120
SAVED = "scaling-guard/*"
SEE_SCALING = [
    "application-autoscaling:DescribeScalableTargets",
    "application-autoscaling:DescribeScalingPolicies",
    "application-autoscaling:DescribeScheduledActions",
]
CHANGE_SCALING = [
    "application-autoscaling:DeregisterScalableTarget",
    "application-autoscaling:PutScalingPolicy",
    "application-autoscaling:PutScheduledAction",
    "application-autoscaling:RegisterScalableTarget",
]
CHANGE_ALARMS = ["cloudwatch:DeleteAlarms", "cloudwatch:PutMetricAlarm"]
OF_VARIANTS = {
    "application-autoscaling:service-namespace": "sagemaker",
    "application-autoscaling:scalable-dimension": "sagemaker:variant:DesiredInstanceCount",
}


class ScalingGuard(Construct):
    """The function of an environment that deregisters the scaling of a variant, and registers it again.

    Endpoint stacks know it by the name that follows from the environment.
    """

    def __init__(self, scope: Construct, id: str, *, place: Deployment) -> None:
        super().__init__(scope, id)
        self.role = provider_of(
            self,
            NOUN,
            place=place,
            handler="scaling_guard.handler.handler",
            description="Takes the scaling of a variant aside while its instance type changes",
            seconds=SECONDS,
            statements=_statements(place),
            environment={"BUCKET": place.bucket},
        )


class GuardedUpdate(Construct):
    """The two moments of an update: `before` the endpoint changes, and `after` it has."""

    def __init__(
        self, scope: Construct, id: str, *, place: Deployment, endpoint: str, variant: str, instance: str
    ) -> None:
        super().__init__(scope, id)
        guarded = {
            "ServiceToken": service_token(place, NOUN),
            "EndpointName": endpoint,
            "VariantName": variant,
            "InstanceType": instance,
        }
        self.before = self._step("before", guarded)
        self.after = self._step("after", guarded)

    def _step(self, step: str, guarded: dict[str, str]) -> CfnResource:
        properties = {**guarded, "Step": step}
        return CfnResource(self, step.capitalize(), type="Custom::ScalingGuard", properties=properties)


def _statements(place: Deployment) -> list[Statement]:
    return [
        Statement(sid="SeeScaling", actions=[*SEE_SCALING, "cloudwatch:DescribeAlarms"], resources=["*"]),
        Statement(
            sid="ChangeScaling",
            actions=CHANGE_SCALING,
            resources=[place.arn("application-autoscaling", "scalable-target/*")],
            conditions={"StringEquals": OF_VARIANTS},
        ),
        # Application Auto Scaling asks its caller for what it does itself: the alarms of target tracking,
        # and the change of instances. Source: its user guide, security_iam_id-based-policy-examples.html.
        Statement(
            sid="ChangeAlarmsOfScaling",
            actions=CHANGE_ALARMS,
            resources=[place.arn("cloudwatch", "alarm:TargetTracking-endpoint/*")],
        ),
        # It tries the caller's permissions out on resources that do not exist, which have no tag. Source:
        # security_iam_permission_validation.html of the same guide.
        Statement(
            sid="ScaleEndpoints",
            actions=["sagemaker:UpdateEndpointWeightsAndCapacities"],
            resources=[place.arn("sagemaker", "endpoint/*")],
            conditions=spares_others(place),
        ),
        Statement(
            sid="SeeEndpoints",
            actions=["sagemaker:DescribeEndpoint"],
            resources=[place.arn("sagemaker", "endpoint/*")],
            conditions=spares_others(place),
        ),
        Statement(
            sid="SeeConfigurations",
            actions=["sagemaker:DescribeEndpointConfig"],
            resources=[place.arn("sagemaker", "endpoint-config/*")],
            conditions=spares_others(place),
        ),
        see_stacks(place),
        Statement(
            sid="KeepScaling",
            actions=["s3:DeleteObject", "s3:GetObject", "s3:PutObject"],
            resources=[f"{place.bucket_arn}/{SAVED}"],
        ),
        Statement(
            sid="ListScaling",
            actions=["s3:ListBucket"],
            resources=[place.bucket_arn],
            conditions={"StringLike": {"s3:prefix": [SAVED]}},
        ),
        # What is saved is in a bucket that may be encrypted with the environment's key.
        *use_key(place, "kms:Decrypt", "kms:GenerateDataKey"),
    ]
