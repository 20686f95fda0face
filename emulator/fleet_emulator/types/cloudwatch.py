"""AWS::CloudWatch: alarms (moto hosts none) and dashboards (moto's change their name with every update)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from moto.cloudwatch.models import (
    CloudWatchBackend,
    Dimension,
    Metric,
    MetricDataQuery,
    MetricStat,
    cloudwatch_backends,
)

from fleet_emulator.types.resource import Declaration, Resource, ResourceType

_ALARM = {
    "ActionsEnabled": "actions_enabled",
    "AlarmActions": "alarm_actions",
    "AlarmDescription": "description",
    "ComparisonOperator": "comparison_operator",
    "DatapointsToAlarm": "datapoints_to_alarm",
    "Dimensions": "dimensions",
    "EvaluateLowSampleCountPercentile": "evaluate_low_sample_count_percentile",
    "EvaluationPeriods": "evaluation_periods",
    "ExtendedStatistic": "extended_statistic",
    "InsufficientDataActions": "insufficient_data_actions",
    "MetricName": "metric_name",
    "Namespace": "namespace",
    "OKActions": "ok_actions",
    "Period": "period",
    "Statistic": "statistic",
    "Tags": "tags",
    "Threshold": "threshold",
    "ThresholdMetricId": "threshold_metric_id",
    "TreatMissingData": "treat_missing_data",
    "Unit": "unit",
}
_REQUIRED_BY_MOTO = ("namespace", "metric_name", "period", "threshold", "statistic", "description")
_QUERY = {"label": "Label", "period": "Period", "expression": "Expression"}


def _backend(declaration: Declaration) -> CloudWatchBackend:
    return cloudwatch_backends[declaration.account_id][declaration.region]


class Alarm(ResourceType):
    """`Ref` is the alarm's name."""

    replacing_properties = frozenset({"AlarmName"})

    def create(self, declaration: Declaration) -> Resource:
        """Put the alarm under its own name or a generated one."""
        name = declaration.properties.get(
            "AlarmName", f"{declaration.stack_name}-{declaration.generated_name()}"
        )
        return self._put(name, declaration)

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Put the alarm again."""
        return self._put(resource.physical_resource_id, declaration)

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Delete the alarm."""
        _backend(declaration).delete_alarms([resource.physical_resource_id])

    @staticmethod
    def _put(name: str, declaration: Declaration) -> Resource:
        properties = declaration.properties
        arguments = {api: properties[key] for key, api in _ALARM.items() if key in properties}
        queries = [_query(metric) for metric in properties.get("Metrics", [])]
        absent: dict[str, Any] = {**dict.fromkeys(_REQUIRED_BY_MOTO), "dimensions": [], "alarm_actions": []}
        before = _backend(declaration).alarms.get(name)
        alarm = _backend(declaration).put_metric_alarm(
            name=name, metric_data_queries=queries, **(absent | arguments)
        )
        # PutMetricAlarm leaves the state of an alarm that exists unchanged; moto makes a new alarm of it.
        if before is not None:
            alarm.state_value, alarm.state_reason = before.state_value, before.state_reason
            alarm.state_reason_data, alarm.history = before.state_reason_data, before.history
            alarm.state_updated_timestamp = before.state_updated_timestamp
        return Resource(name, {"Arn": alarm.alarm_arn})


class Dashboard(ResourceType):
    """`Ref` is the dashboard's name."""

    replacing_properties = frozenset({"DashboardName"})

    def create(self, declaration: Declaration) -> Resource:
        """Put the dashboard under its own name or a generated one."""
        name = declaration.properties.get("DashboardName", declaration.generated_name())
        _backend(declaration).put_dashboard(name, declaration.properties["DashboardBody"])
        return Resource(name)

    def update(self, resource: Resource, before: Declaration, declaration: Declaration) -> Resource:
        """Put the dashboard again."""
        _backend(declaration).put_dashboard(
            resource.physical_resource_id, declaration.properties["DashboardBody"]
        )
        return resource

    def delete(self, resource: Resource, declaration: Declaration) -> None:
        """Delete the dashboard."""
        _backend(declaration).delete_dashboards([resource.physical_resource_id])


def _query(metric: Mapping[str, Any]) -> MetricDataQuery:
    optional: dict[str, Any] = {key: metric.get(name) for key, name in _QUERY.items()}
    stat = _metric_stat(metric["MetricStat"]) if "MetricStat" in metric else None
    return MetricDataQuery(
        metric["Id"], return_data=metric.get("ReturnData", True), metric_stat=stat, **optional
    )


def _metric_stat(stat: Mapping[str, Any]) -> MetricStat:
    metric = stat["Metric"]
    dimensions = [
        Dimension(dimension["Name"], dimension["Value"]) for dimension in metric.get("Dimensions", [])
    ]
    unit: Any = stat.get("Unit")
    return MetricStat(
        Metric(metric["MetricName"], metric["Namespace"], dimensions), stat["Period"], stat["Stat"], unit
    )
