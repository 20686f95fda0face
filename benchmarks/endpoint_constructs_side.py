"""One side of benchmarks/endpoint_constructs.py, as a process: it synthesises an app, and prints its times.

`python endpoint_constructs_side.py SIDE FORM COUNT FOLDER`. The sides are `ours` and `alpha`, the forms
`plain` and `full`; the functions of these names state what each declares.
"""

from __future__ import annotations

import gc
import json
import sys
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from clocks import Parts

if TYPE_CHECKING:
    from aws_cdk import Stack

RELEASE, TYPE, REGION = "25.04", "ml.g5.xlarge", "us-east-1"
IMAGES = f"arn:aws:ecr:{REGION}:785573368785:repository/sagemaker-tritonserver"
OTHER_METRICS = {
    "ModelErrors": ("AWS/SageMaker", "InvocationModelErrors"),
    "AtCapacity": ("AWS/SageMaker", "InvocationsPerInstance"),
    "Pending": ("TritonFleet", "nv_inference_pending_request_count"),
}
"""Metrics of alarms for which the constructs of the alpha have no method."""
ENDPOINTS_OF_A_STACK = 10
"""CloudFormation takes 500 resources."""
TOPIC = f"arn:aws:sns:{REGION}:111122223333:page"

Declare = Callable[["Stack", int, bool], None]
"""Declares the endpoint of a number in a stack, in its full form or the plain one."""


def main() -> None:
    """Synthesise one app."""
    side, form, count, folder = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    parts = Parts()
    with parts.timed("start"):
        import aws_cdk
    with parts.timed("import"):
        declare: Declare = {"ours": ours, "alpha": alpha}[side]()
        gc.collect()  # the next collection looks at what is declared, and not at what was imported
    with parts.timed("declare"):
        app = aws_cdk.App(outdir=folder)
        env = aws_cdk.Environment(account="111122223333", region=REGION)
        for first in range(0, count, ENDPOINTS_OF_A_STACK):
            stack = aws_cdk.Stack(app, f"triton-fleet-prod-{first}", env=env)
            for number in range(first, min(first + ENDPOINTS_OF_A_STACK, count)):
                declare(stack, number, form == "full")
    with parts.timed("synth"):
        assembly = app.synth()
    resources = Counter(
        resource["Type"] for stack in assembly.stacks for resource in stack.template["Resources"].values()
    )
    print(json.dumps({"parts": parts.seconds, "resources": resources}))


def ours() -> Declare:
    """A TritonEndpoint, to which all rules are applied.

    Plain: no alarm, no dashboard and no support. Full: every alarm that an endpoint of one model on GPUs can
    have, two targets of scaling, a sample that each deploy sends, and a caller. A dashboard, saved queries,
    log groups and the scaling guard come with them, by the functions of a deployed support.
    """
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_s3 as s3

    from triton_endpoints import (
        Alarms,
        EndpointSupport,
        Input,
        Instance,
        Sample,
        Scaling,
        TritonEndpoint,
        TritonModel,
    )
    from triton_fleet.rules.registry import rules

    rules()  # the first endpoint would import their modules
    alarms = Alarms(
        latency_p50="50ms",
        latency_p90="100ms",
        latency_p99="200ms",
        overhead_p99="100ms",
        client_errors="5%",
        model_errors="1%",
        gpu_utilization="90%",
        gpu_memory="90%",
        cpu_utilization="90%",
        at_capacity="15m",
        pending_requests=10,
    )
    text = Input(datatype="BYTES", shape=[1, 1], data="seven")
    sample = Sample(name="one-text", inputs={"TEXT": text})

    def declare(stack: Stack, number: int, is_full: bool) -> None:
        if is_full and number == 0:
            EndpointSupport.from_environment(stack, "Support", environment="prod")
        bucket = s3.Bucket.from_bucket_name(stack, f"Models{number}", f"our-models-{number}")
        props: dict[str, Any] = {"alarms": None, "dashboard": False}
        if is_full:
            scaling = Scaling(min=2, max=8).scale_on_invocations(600).scale_on_gpu_utilization(60)
            props = {"alarms": alarms, "scaling": scaling, "samples": [sample]}
        endpoint = TritonEndpoint(
            stack,
            f"Ranking{number}",
            environment="prod",
            endpoint_name=f"ranking-{number}",
            triton=RELEASE,
            instance=Instance(type=TYPE, count=2),
            model=TritonModel.from_bucket(bucket, "ranking/7.tar.gz", default_model="ranking"),
            **props,
        )
        if is_full:
            caller = iam.Role(stack, f"Caller{number}", assumed_by=iam.AccountRootPrincipal())
            endpoint.grant_invoke(caller)

    return declare


def alpha() -> Declare:
    """A role, Model, EndpointConfig and Endpoint of aws-cdk.aws-sagemaker-alpha, as its documentation has it.

    Image, data, instances and the variable are those of an endpoint of ours; the role reads the archive,
    pulls the image and writes logs and metrics. Full: as many alarms, each with a topic, two targets of
    scaling and a caller, by the CDK's richer classes wherever it has them. There is no check, no dashboard,
    no query, no log group and no guard.
    """
    from aws_cdk import Duration
    from aws_cdk import aws_applicationautoscaling as autoscaling
    from aws_cdk import aws_cloudwatch as cloudwatch
    from aws_cdk import aws_cloudwatch_actions as actions
    from aws_cdk import aws_ecr as ecr
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_s3 as s3
    from aws_cdk import aws_sns as sns

    sagemaker: Any = import_module("aws_cdk.aws_sagemaker_alpha")  # which types are checked without
    minute = Duration.minutes(1)

    def declare(stack: Stack, number: int, is_full: bool) -> None:
        name = f"ranking-{number}"
        bucket = s3.Bucket.from_bucket_name(stack, f"Models{number}", f"our-models-{number}")
        images = ecr.Repository.from_repository_arn(stack, f"Images{number}", IMAGES)
        role = iam.Role(stack, f"Role{number}", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["logs:CreateLogGroup", "logs:CreateLogStream", "logs:PutLogEvents"],
                resources=[f"arn:aws:logs:{REGION}:111122223333:log-group:/aws/sagemaker/Endpoints/{name}*"],
            )
        )
        role.add_to_policy(iam.PolicyStatement(actions=["cloudwatch:PutMetricData"], resources=["*"]))
        model = sagemaker.Model(
            stack,
            f"Model{number}",
            role=role,
            containers=[
                sagemaker.ContainerDefinition(
                    image=sagemaker.ContainerImage.from_ecr_repository(images, f"{RELEASE}-py3"),
                    model_data=sagemaker.ModelData.from_bucket(bucket, "ranking/7.tar.gz"),
                    environment={"SAGEMAKER_TRITON_DEFAULT_MODEL_NAME": "ranking"},
                )
            ],
        )
        config = sagemaker.EndpointConfig(
            stack,
            f"Config{number}",
            instance_production_variants=[
                sagemaker.InstanceProductionVariantProps(
                    model=model,
                    variant_name="AllTraffic",
                    instance_type=sagemaker.InstanceType.of(TYPE),
                    initial_instance_count=2,
                )
            ],
        )
        endpoint = sagemaker.Endpoint(stack, f"Ranking{number}", endpoint_name=name, endpoint_config=config)
        if not is_full:
            return
        endpoint.grant_invoke(iam.Role(stack, f"Caller{number}", assumed_by=iam.AccountRootPrincipal()))
        variant = endpoint.find_instance_production_variant("AllTraffic")
        instances = variant.auto_scale_instance_count(min_capacity=2, max_capacity=8)
        instances.scale_on_invocations(f"Calls{number}", max_requests_per_second=10, safety_factor=1)
        autoscaling.TargetTrackingScalingPolicy(
            stack,
            f"Gpu{number}",
            scaling_target=instances.node.find_child("Target"),
            target_value=60,
            custom_metric=variant.metric_gpu_utilization(period=minute),
        )
        codes = sagemaker.InvocationHttpResponseCode
        server_errors = variant.metric_invocation_response_code(
            codes.INVOCATION_5XX_ERRORS, statistic="Average", period=minute
        )
        dimensions = {"EndpointName": name, "VariantName": "AllTraffic"}
        other = {
            key: cloudwatch.Metric(
                namespace=namespace, metric_name=metric, dimensions_map=dimensions, period=minute
            )
            for key, (namespace, metric) in OTHER_METRICS.items()
        }
        metrics = {
            **{
                f"Latency{part}": (variant.metric_model_latency(statistic=part, period=minute), 200_000)
                for part in ("p50", "p90", "p99")
            },
            "Overhead": (variant.metric_overhead_latency(statistic="p99", period=minute), 100_000),
            "Errors": (server_errors, 0.01),
            "CriticalErrors": (server_errors, 0.05),
            "ClientErrors": (
                variant.metric_invocation_response_code(
                    codes.INVOCATION_4XX_ERRORS, statistic="Average", period=minute
                ),
                0.05,
            ),
            "Gpu": (variant.metric_gpu_utilization(period=minute), 90),
            "GpuMemory": (variant.metric_gpu_memory_utilization(period=minute), 90),
            "Cpu": (variant.metric_cpu_utilization(period=minute), 360),
            "Memory": (variant.metric_memory_utilization(period=minute), 90),
            "Disk": (variant.metric_disk_utilization(period=minute), 85),
            **{key: (metric, 10) for key, metric in other.items()},
        }
        page = sns.Topic.from_topic_arn(stack, f"Page{number}", TOPIC)
        for key, (metric, threshold) in metrics.items():
            alarm = metric.create_alarm(
                stack,
                f"{key}Alarm{number}",
                alarm_description=f"{key} of {name} is above its threshold; see the runbook",
                threshold=threshold,
                comparison_operator=cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
                evaluation_periods=5,
                datapoints_to_alarm=3,
                treat_missing_data=cloudwatch.TreatMissingData.NOT_BREACHING,
            )
            alarm.add_alarm_action(actions.SnsAction(page))
            alarm.add_ok_action(actions.SnsAction(page))

    return declare


if __name__ == "__main__":
    main()
