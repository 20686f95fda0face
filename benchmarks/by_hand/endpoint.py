"""The stack: model, configuration, endpoint, and what goes with them."""

from __future__ import annotations

import json

from aws_cdk import CfnOutput, CfnResource, Environment, Stack, Tags
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sagemaker as sagemaker
from constructs import Construct

from by_hand.alarms import operators_alarms
from by_hand.dashboard import dashboard_body
from by_hand.role import execution_role
from by_hand.rollout import deployment
from by_hand.scaling import guard_steps, scale
from by_hand.values import VARIANT, Endpoint


def endpoint_stack(scope: Construct, values: Endpoint) -> None:
    """The stack of one endpoint."""
    stack = Stack(
        scope,
        values.stack,
        env=Environment(account=values.account, region=values.region),
        description=f"Triton endpoint {values.name} ({values.environment})",
    )
    Tags.of(stack).add("triton-fleet:endpoint", values.name)
    role, policy = execution_role(stack, values)
    model = _model(stack, values, role)
    model.add_resource_dependency(policy)
    config = _config(stack, values, model)
    endpoint = _endpoint(stack, values, config, role)
    before, after = guard_steps(stack, values)
    endpoint.add_resource_dependency(before)
    after.add_resource_dependency(endpoint)
    name = endpoint.attr_endpoint_name
    check = CfnResource(
        stack,
        "Check",
        type="Custom::EndpointCheck",
        properties={
            "ServiceToken": values.check,
            "EndpointName": values.name,
            "EndpointConfigName": config.attr_endpoint_config_name,
            "Samples": values.samples,
            "Warm": values.warm,
        },
    )
    for each in (after, *(scale(stack, values.scaling, name, after) if values.scaling else ())):
        check.add_resource_dependency(each)
    operators_alarms(stack, values)
    for title, query in values.queries.items():
        logs.CfnQueryDefinition(
            stack,
            f"Query{len(title)}",
            name=f"TritonFleet/{values.name}/{title}",
            query_string=query,
            log_group_names=[f"/aws/sagemaker/Endpoints/{values.name}"],
        )
    cloudwatch.CfnDashboard(stack, "Dashboard", dashboard_body=json.dumps(dashboard_body(values)))
    CfnOutput(stack, "EndpointName", value=name, description="For invoke_endpoint")


def _model(stack: Stack, values: Endpoint, role: iam.CfnRole) -> sagemaker.CfnModel:
    return sagemaker.CfnModel(
        stack,
        "Model",
        execution_role_arn=role.attr_arn,
        primary_container=sagemaker.CfnModel.ContainerDefinitionProperty(
            image=values.image,
            mode=values.mode,
            model_data_url=values.model_data_url,
            environment=values.variables,
        ),
    )


def _config(stack: Stack, values: Endpoint, model: sagemaker.CfnModel) -> sagemaker.CfnEndpointConfig:
    return sagemaker.CfnEndpointConfig(
        stack,
        "Config",
        production_variants=[
            sagemaker.CfnEndpointConfig.ProductionVariantProperty(
                variant_name=VARIANT,
                model_name=model.attr_model_name,
                instance_type=values.instance_type,
                initial_instance_count=values.instance_count,
                initial_variant_weight=1,
                inference_ami_version=values.ami,
                model_data_download_timeout_in_seconds=values.download_timeout,
                container_startup_health_check_timeout_in_seconds=values.startup_timeout,
                routing_config=sagemaker.CfnEndpointConfig.RoutingConfigProperty(
                    routing_strategy="LEAST_OUTSTANDING_REQUESTS"
                ),
            )
        ],
        metrics_config=sagemaker.CfnEndpointConfig.MetricsConfigProperty(
            enable_detailed_observability=False, enable_enhanced_metrics=False
        ),
    )


def _endpoint(
    stack: Stack, values: Endpoint, config: sagemaker.CfnEndpointConfig, role: iam.CfnRole
) -> sagemaker.CfnEndpoint:
    needed: list[CfnResource] = []
    rollout = None
    if values.rollout:
        rollout, needed = deployment(
            stack, values, values.rollout, config.attr_endpoint_config_name, role.ref
        )
    needed.append(
        CfnResource(
            stack,
            "Logs",
            type="Custom::EndpointLogs",
            properties={
                "ServiceToken": values.logs,
                "LogGroups": values.log_groups,
                "RetentionInDays": 30,
                "Tags": dict(values.tags),
            },
        )
    )
    endpoint = sagemaker.CfnEndpoint(
        stack,
        "Endpoint",
        endpoint_name=values.name,
        endpoint_config_name=config.attr_endpoint_config_name,
        retain_all_variant_properties=True if values.scaling else None,
        exclude_retained_variant_properties=[
            sagemaker.CfnEndpoint.VariantPropertyProperty(variant_property_type="DataCaptureConfig"),
            sagemaker.CfnEndpoint.VariantPropertyProperty(variant_property_type="DesiredWeight"),
        ]
        if values.scaling
        else None,
        deployment_config=rollout,
    )
    for each in needed:
        endpoint.add_resource_dependency(each)
    return endpoint
