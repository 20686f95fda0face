"""Stacks with every resource type that the embedded AWS hosts, in the variants that its tests deploy."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import aws_cdk as cdk
from aws_cdk import aws_applicationautoscaling as scaling
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_codebuild as codebuild
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_s3_assets as assets
from aws_cdk import aws_sagemaker as sagemaker
from aws_cdk import aws_sns as sns
from aws_cdk import aws_ssm as ssm

ENVIRONMENT = cdk.Environment(account="123456789012", region="us-east-1")


@dataclass(frozen=True, kw_only=True)
class Variant:
    """The values in which two deployments differ."""

    image: str = "triton:25.03"
    data: str = "s3://embedded-data/model.tar.gz"
    instance_type: str = "ml.g5.xlarge"
    has_base_change: bool = False
    broken_tail: bool = False


VARIANTS = {
    "first": Variant(),
    "changed": Variant(image="triton:25.04", has_base_change=True),
    "another-type": Variant(instance_type="ml.g6.xlarge"),
    "broken-endpoint": Variant(image="triton:broken", has_base_change=True),
    "broken-tail": Variant(image="triton:25.05", has_base_change=True, broken_tail=True),
    "no-data": Variant(data="s3://embedded-data/none.tar.gz", has_base_change=True),
}

_POLICY = scaling.CfnScalingPolicy
_TRACKING_SCHEMA = _POLICY.TargetTrackingScalingPolicyConfigurationProperty(
    target_value=600,
    predefined_metric_specification=_POLICY.PredefinedMetricSpecificationProperty(
        predefined_metric_type="SageMakerVariantInvocationsPerInstance"
    ),
)


class Base(cdk.Stack):
    """Resources that endpoints share; a changed one differs in a property of most resources."""

    def __init__(self, app: cdk.App, variant: Variant) -> None:
        super().__init__(app, "Base", env=ENVIRONMENT)
        changed_value = variant.has_base_change
        self.bucket = s3.Bucket(
            self, "Models", versioned=True, enforce_ssl=True, removal_policy=cdk.RemovalPolicy.DESTROY
        )
        assets.Asset(self, "Asset", path=__file__)
        self.role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"),
            description="changed" if changed_value else "first",
            managed_policies=[iam.ManagedPolicy.from_aws_managed_policy_name("AmazonSageMakerFullAccess")],
        )
        self.bucket.grant_read(self.role, "new/*" if changed_value else "old/*")
        logs.LogGroup(
            self,
            "Log",
            retention=logs.RetentionDays.ONE_MONTH if changed_value else logs.RetentionDays.ONE_WEEK,
            removal_policy=cdk.RemovalPolicy.DESTROY,
        )
        topic = sns.Topic(
            self, "Alarms", enforce_ssl=True, display_name="changed" if changed_value else "first"
        )
        codebuild.Project(
            self,
            "Engines",
            description="changed" if changed_value else "first",
            build_spec=codebuild.BuildSpec.from_object(
                {"version": "0.2", "phases": {"build": {"commands": ["true"]}}}
            ),
            environment_variables={"PRECISION": codebuild.BuildEnvironmentVariable(value="fp16")},
        )
        self.setting = ssm.StringParameter(
            self, "Setting", parameter_name="/embedded/setting", string_value="2" if changed_value else "1"
        )
        cdk.CfnResource(
            self, "Unknown", type="AWS::Budgets::Budget", properties={"Budget": {"BudgetType": "COST"}}
        )
        cdk.CustomResource(self, "Custom", service_token=topic.topic_arn, resource_type="Custom::Thing")
        cdk.CfnOutput(self, "Topic", value=topic.topic_arn, export_name="embedded-topic")


class ServingApp(cdk.Stack):
    """An endpoint; a broken tail is a resource that fails after everything else."""

    def __init__(self, app: cdk.App, base: Base, variant: Variant) -> None:
        super().__init__(app, "Serving", env=ENVIRONMENT)
        model = sagemaker.CfnModel(
            self,
            "Model",
            execution_role_arn=base.role.role_arn,  # a weak reference: Fn::GetStackOutput
            primary_container=sagemaker.CfnModel.ContainerDefinitionProperty(
                image=variant.image,
                model_data_url=variant.data,
                environment={
                    "BUCKET": base.bucket.bucket_name,
                    "SETTING": ssm.StringParameter.value_for_string_parameter(self, "/embedded/setting"),
                },
            ),
        )
        config = sagemaker.CfnEndpointConfig(
            self,
            "Config",
            production_variants=[
                sagemaker.CfnEndpointConfig.ProductionVariantProperty(
                    variant_name="AllTraffic",
                    model_name=model.attr_model_name,
                    instance_type=variant.instance_type,
                    initial_instance_count=2,
                    initial_variant_weight=1,
                )
            ],
        )
        endpoint = sagemaker.CfnEndpoint(
            self, "Endpoint", endpoint_name="embedded", endpoint_config_name=config.attr_endpoint_config_name
        )
        target = scaling.CfnScalableTarget(
            self,
            "Target",
            service_namespace="sagemaker",
            scalable_dimension="sagemaker:variant:DesiredInstanceCount",
            resource_id=f"endpoint/{endpoint.attr_endpoint_name}/variant/AllTraffic",
            min_capacity=1,
            max_capacity=4,
        )
        scaling.CfnScalingPolicy(
            self,
            "Policy",
            policy_name="invocations",
            policy_type="TargetTrackingScaling",
            scaling_target_id=target.ref,
            target_tracking_scaling_policy_configuration=_TRACKING_SCHEMA,
        )
        latency = cloudwatch.Metric(
            namespace="AWS/SageMaker",
            metric_name="ModelLatency",
            statistic="p99",
            dimensions_map={"EndpointName": endpoint.attr_endpoint_name, "VariantName": "AllTraffic"},
        )
        alarm = cloudwatch.Alarm(self, "Latency", metric=latency, threshold=200_000, evaluation_periods=3)
        topic = sns.Topic.from_topic_arn(
            self, "Alarms", cdk.Fn.import_value("embedded-topic")
        )  # a strong reference
        alarm.add_alarm_action(actions.SnsAction(topic))
        cloudwatch.Alarm(
            self,
            "Slow",
            metric=cloudwatch.MathExpression(expression="latency / 1000", using_metrics={"latency": latency}),
            threshold=0,
            evaluation_periods=1,
        )
        cloudwatch.Dashboard(self, "Dashboard", widgets=[[cloudwatch.GraphWidget(left=[latency])]])
        if variant.broken_tail:
            broken_resource = cdk.CfnResource(
                self,
                "Broken",
                type="AWS::SageMaker::Model",
                properties={
                    "ExecutionRoleArn": base.role.role_arn,
                    "PrimaryContainer": {
                        "Image": "triton",
                        "ModelDataUrl": "s3://embedded-data/absent.tar.gz",
                    },
                },
            )
            broken_resource.add_dependency(endpoint)
        cdk.CfnOutput(self, "Arn", value=endpoint.ref)
        cdk.CfnOutput(
            self, "Names", value=json.dumps({"model": model.attr_model_name, "scaling": target.ref})
        )


class Small(cdk.Stack):
    """A stack without any ties, of which several are deployed at once."""

    def __init__(self, app: cdk.App, name: str) -> None:
        super().__init__(app, name, env=ENVIRONMENT)
        sns.Topic(self, "Topic")


def synthesize(folder: Path) -> None:
    """Write one cloud assembly for each variant; one process for all of them saves most of the time."""
    for name, variant in VARIANTS.items():
        app = cdk.App(
            outdir=str(folder / name),
            context={"@aws-cdk/core:defaultCrossStackReferences": "weak"},
            builtin_cloud_formation_validation=False,
        )
        base = Base(app, variant)
        ServingApp(app, base, variant).add_stack_dependency(base)
        for small in ("SmallOne", "SmallTwo", "SmallThree"):
            Small(app, small)
        app.synth()


if __name__ == "__main__":
    synthesize(Path(sys.argv[1]))
