"""Changes by hand of the deployed endpoint `sentences` and of what its environment shares."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.support.deploys import BUCKET
from tests.support.endpoint_capacity import set_variant
from tests.support.updated_account import STACK, TARGET

FOUNDATION = "triton-fleet-dev"
DIMENSION = {"ScalableDimension": "sagemaker:variant:DesiredInstanceCount"}
Client = Callable[[str], Any]
Change = Callable[[Client], object]


def resources(client: Client, stack: str, type: str) -> list[str]:
    stack_resources = client("cloudformation").describe_stack_resources(StackName=stack)["StackResources"]
    return [
        stack_resource["PhysicalResourceId"]
        for stack_resource in stack_resources
        if stack_resource["ResourceType"] == type
    ]


def role(client: Client) -> str:
    (name,) = resources(client, STACK, "AWS::IAM::Role")
    return name


def operators_alarm(client: Client) -> dict[str, Any]:
    metric_alarms = client("cloudwatch").describe_alarms()["MetricAlarms"]
    return next(metric_alarm for metric_alarm in metric_alarms if "AlarmsErrors" in metric_alarm["AlarmName"])


def widen(client: Client) -> None:
    client("application-autoscaling").register_scalable_target(**TARGET, **DIMENSION, MaxCapacity=20)


def suspend(client: Client) -> None:
    state = {"DynamicScalingInSuspended": True}
    client("application-autoscaling").register_scalable_target(**TARGET, **DIMENSION, SuspendedState=state)


def policy(client: Client, measure: str) -> dict[str, Any]:
    """The endpoint's policy of a measure."""
    policies = client("application-autoscaling").describe_scaling_policies(**TARGET)["ScalingPolicies"]
    (actual_policy,) = [policy for policy in policies if policy["PolicyName"].startswith(measure)]
    return dict(actual_policy)


def retarget(client: Client) -> None:
    actual_policy = policy(client, "GpuUtilization")
    config = {**actual_policy["TargetTrackingScalingPolicyConfiguration"], "TargetValue": 95}
    client("application-autoscaling").put_scaling_policy(
        **TARGET,
        **DIMENSION,
        PolicyName=actual_policy["PolicyName"],
        PolicyType="TargetTrackingScaling",
        TargetTrackingScalingPolicyConfiguration=config,
    )


def schedule(client: Client) -> None:
    client("application-autoscaling").put_scheduled_action(
        **TARGET,
        **DIMENSION,
        ScheduledActionName="night",
        Schedule="cron(0 22 * * ? *)",
        ScalableTargetAction={"MinCapacity": 1, "MaxCapacity": 1},
    )


def forget_a_policy(client: Client) -> None:
    client("application-autoscaling").delete_scaling_policy(
        **TARGET, **DIMENSION, PolicyName=policy(client, "InvocationsPerInstance")["PolicyName"]
    )


def silence(client: Client) -> None:
    client("cloudwatch").disable_alarm_actions(AlarmNames=[operators_alarm(client)["AlarmName"]])


def delete_an_alarm(client: Client) -> None:
    client("cloudwatch").delete_alarms(AlarmNames=[operators_alarm(client)["AlarmName"]])


def edit_the_dashboard(client: Client) -> None:
    (name,) = resources(client, STACK, "AWS::CloudWatch::Dashboard")
    body = json.loads(client("cloudwatch").get_dashboard(DashboardName=name)["DashboardBody"])
    body["widgets"].append(
        {"type": "text", "x": 0, "y": 99, "width": 6, "height": 2, "properties": {"markdown": "mine"}}
    )
    client("cloudwatch").put_dashboard(DashboardName=name, DashboardBody=json.dumps(body))


def keep_logs(client: Client) -> None:
    client("logs").put_retention_policy(
        logGroupName="/aws/sagemaker/Endpoints/sentences", retentionInDays=3653
    )


def widen_the_role(client: Client) -> None:
    statement = {"Effect": "Allow", "Action": "s3:*", "Resource": "*"}
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    client("iam").put_role_policy(RoleName=role(client), PolicyName="mine", PolicyDocument=document)


def edit_a_policy(client: Client) -> None:
    iam = client("iam")
    (name,) = [
        policy_name
        for policy_name in iam.list_role_policies(RoleName=role(client))["PolicyNames"]
        if policy_name != "mine"
    ]
    document = iam.get_role_policy(RoleName=role(client), PolicyName=name)["PolicyDocument"]
    (statement,) = [statement for statement in document["Statement"] if statement["Sid"] == "ReadArchives"]
    statement["Resource"] = "*"
    iam.put_role_policy(RoleName=role(client), PolicyName=name, PolicyDocument=json.dumps(document))


def trust_another(client: Client) -> None:
    statement = {
        "Effect": "Allow",
        "Action": "sts:AssumeRole",
        "Principal": {"AWS": "arn:aws:iam::999900001111:root"},
    }
    document = json.dumps({"Version": "2012-10-17", "Statement": [statement]})
    client("iam").update_assume_role_policy(RoleName=role(client), PolicyDocument=document)


def weigh(client: Client) -> None:
    set_variant(client("sagemaker"), "sentences", DesiredWeight=0.25)


def outgrow(client: Client) -> None:
    set_variant(client("sagemaker"), "sentences", DesiredInstanceCount=9)


def run_another_configuration(client: Client) -> None:
    sagemaker = client("sagemaker")
    name = sagemaker.describe_endpoint(EndpointName="sentences")["EndpointConfigName"]
    variants = sagemaker.describe_endpoint_config(EndpointConfigName=name)["ProductionVariants"]
    sagemaker.create_endpoint_config(EndpointConfigName="by-hand", ProductionVariants=variants)
    sagemaker.update_endpoint(EndpointName="sentences", EndpointConfigName="by-hand")


def open_the_bucket(client: Client) -> None:
    names = ("BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets")
    client("s3").put_public_access_block(
        Bucket=BUCKET, PublicAccessBlockConfiguration=dict.fromkeys(names, False)
    )


def shorten_a_function(client: Client) -> None:
    name = next(
        resource for resource in resources(client, FOUNDATION, "AWS::Lambda::Function") if "Guard" in resource
    )
    client("lambda").update_function_configuration(FunctionName=name, Timeout=3)
