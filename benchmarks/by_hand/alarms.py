"""The alarms that tell operators."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aws_cdk import Stack
from aws_cdk import aws_cloudwatch as cloudwatch

from by_hand.values import VARIANT, Endpoint


def operators_alarms(stack: Stack, values: Endpoint) -> None:
    """Each behind its gate of calls, or on one metric of the host."""
    for alarm in values.alarms:
        topic = f"{{{{resolve:ssm:/triton-fleet/{values.environment}/alarm-topic/{alarm['severity']}}}}}"
        common: dict[str, Any] = {
            "alarm_description": alarm["text"],
            "alarm_actions": [topic],
            "ok_actions": [topic],
            "comparison_operator": "GreaterThanThreshold",
            "threshold": alarm["threshold"],
            "evaluation_periods": 5,
            "datapoints_to_alarm": 3,
        }
        measured = _gated(values, alarm) if alarm["calls"] else _host(values, alarm)
        cloudwatch.CfnAlarm(stack, f"Operators{alarm['id']}", **common, **measured)


def _gated(values: Endpoint, alarm: Mapping[str, Any]) -> dict[str, Any]:
    query = cloudwatch.CfnAlarm.MetricDataQueryProperty
    gate = query(id="gated", expression=f"IF(calls >= {alarm['calls']}, value)", return_data=True)
    hidden = [
        query(
            id=id,
            metric_stat=cloudwatch.CfnAlarm.MetricStatProperty(
                metric=cloudwatch.CfnAlarm.MetricProperty(
                    namespace="AWS/SageMaker", metric_name=metric, dimensions=_dimensions(values)
                ),
                period=60,
                stat=statistic,
            ),
            return_data=False,
        )
        for id, metric, statistic in (
            ("calls", "Invocations", "Sum"),
            ("value", alarm["metric"], alarm["statistic"]),
        )
    ]
    return {"metrics": [gate, *hidden], "treat_missing_data": "notBreaching"}


def _host(values: Endpoint, alarm: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "namespace": "/aws/sagemaker/Endpoints",
        "metric_name": alarm["metric"],
        "dimensions": _dimensions(values),
        "statistic": alarm["statistic"],
        "period": 60,
        "treat_missing_data": "missing",
    }


def _dimensions(values: Endpoint) -> list[cloudwatch.CfnAlarm.DimensionProperty]:
    return [
        cloudwatch.CfnAlarm.DimensionProperty(name="EndpointName", value=values.name),
        cloudwatch.CfnAlarm.DimensionProperty(name="VariantName", value=VARIANT),
    ]
