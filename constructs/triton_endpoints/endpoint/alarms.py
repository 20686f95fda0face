"""The alarms that notify the operators of an endpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from aws_cdk import CfnParameter
from aws_cdk import aws_cloudwatch as cloudwatch
from constructs import Construct

from triton_endpoints.logical_ids import identify_by_content
from triton_fleet.catalog.metrics import endpoint_metric
from triton_fleet.context.alarms import Alarm, Comparison
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.spec.alarms import AlarmSeverity
from triton_fleet.spec.deployment import Deployment

Query = cloudwatch.CfnAlarm.MetricDataQueryProperty

_OPERATORS: Mapping[Comparison, str] = {
    "above": "GreaterThanThreshold",
    "below": "LessThanThreshold",
    "at least": "GreaterThanOrEqualToThreshold",
}


class AlarmTargets:
    """Whom alarms notify: nobody, unless a method is overridden."""

    may_need_endpoint = False
    """Whether it may be deployed after the endpoint, which then does not wait for the alarms."""

    def arns(self, severity: AlarmSeverity, scope: Construct) -> Sequence[str]:
        """The ARNs of what alarms of a severity do, which are declared below a scope."""
        return ()

    def add_to(self, alarm: cloudwatch.CfnAlarm, severity: AlarmSeverity) -> None:
        """Add what needs the alarm itself."""


class FoundationTopics(AlarmTargets):
    """The topics of an environment's Foundation, known by names in the parameter store that follow from it.

    A template has a parameter for each severity, however many alarms there are: of dynamic references, two
    for each alarm, it may have 60. Source: CloudFormation user guide, dynamic-references.html.
    """

    def __init__(self, deployment: Deployment, owner: str | None) -> None:
        """Args: the environment; the owner whose topics they are, None for those of everybody."""
        self._deployment, self._owner = deployment, owner
        self._arns: dict[AlarmSeverity, str] = {}

    def arns(self, severity: AlarmSeverity, scope: Construct) -> Sequence[str]:
        """The topic of the severity."""
        if severity not in self._arns:
            name = self._deployment.alarm_topic(severity, self._owner)
            self._arns[severity] = topic_parameter(scope, severity, name).value_as_string
        return [self._arns[severity]]


def topic_parameter(scope: Construct, severity: AlarmSeverity, name: str) -> CfnParameter:
    """A template's parameter with the ARN of a topic, which the parameter store has under a name."""
    parameter = CfnParameter(
        scope,
        f"{severity.capitalize()}Topic",
        type="AWS::SSM::Parameter::Value<String>",
        default=name,
        # The CDK CLI would otherwise update the stack in every deploy.
        description=f"ARN of the topic for {severity} alarms [cdk:skip]",
    )
    # The CDK CLI has a parameter of the same id keep its value, which is this name.
    identify_by_content(parameter, name)
    return parameter


class EndpointAlarms(Construct):
    """An alarm for each threshold, which notifies its severity's targets when it fires and when it ends.

    CloudFormation names them. The endpoint is named literally: an alarm may exist before it.
    """

    def __init__(
        self, scope: Construct, id: str, *, endpoint: ResolvedEndpoint, targets: AlarmTargets
    ) -> None:
        super().__init__(scope, id)
        self._targets = targets
        self._dimensions = [
            cloudwatch.CfnAlarm.DimensionProperty(name=name, value=value)
            for name, value in (("EndpointName", endpoint.name), ("VariantName", endpoint.variant))
        ]
        self.alarms = tuple(self._declare(alarm) for alarm in endpoint.alarms)

    def _declare(self, alarm: Alarm) -> cloudwatch.CfnAlarm:
        name = "".join(part.capitalize() for part in (*alarm.key.split("_"), alarm.severity))
        arns = list(self._targets.arns(alarm.severity, self))
        cfn_alarm = cloudwatch.CfnAlarm(
            self,
            name,
            alarm_actions=arns,
            ok_actions=arns,
            alarm_description=alarm.text,
            comparison_operator=_OPERATORS[alarm.comparison],
            threshold=alarm.threshold,
            evaluation_periods=alarm.periods,
            datapoints_to_alarm=alarm.datapoints,
            treat_missing_data=alarm.missing_data,
            **self._metric_properties(alarm),
        )
        self._targets.add_to(cfn_alarm, alarm.severity)
        return cfn_alarm

    def _metric_properties(self, alarm: Alarm) -> dict[str, Any]:
        """A metric, one behind its gate, or a query."""
        if alarm.query:
            query = Query(id="queried", expression=alarm.query, period=alarm.period, return_data=True)
            return {"metrics": [query]}
        if alarm.calls:
            return {"metrics": self._gate_queries(alarm)}
        metric, percentile = endpoint_metric(alarm.measure), alarm.statistic.startswith("p")
        return {
            "namespace": metric.namespace,
            "metric_name": metric.name,
            "dimensions": self._dimensions,
            "extended_statistic" if percentile else "statistic": alarm.statistic,
            "period": alarm.period,
        }

    def _gate_queries(self, alarm: Alarm) -> list[Query]:
        # IF without a third argument leaves the minute out, and counts a missing value as 0: so the
        # values themselves are counted, one for each call.
        # Source: CloudWatch user guide, using-metric-math.html.
        return [
            Query(id="result", expression=f"IF(calls >= {alarm.calls}, value)", return_data=True),
            self._query("calls", alarm, "SampleCount"),
            self._query("value", alarm, alarm.statistic),
        ]

    def _query(self, id: str, alarm: Alarm, statistic: str) -> Query:
        metric = endpoint_metric(alarm.measure)
        return Query(
            id=id,
            metric_stat=cloudwatch.CfnAlarm.MetricStatProperty(
                metric=cloudwatch.CfnAlarm.MetricProperty(
                    namespace=metric.namespace, metric_name=metric.name, dimensions=self._dimensions
                ),
                period=alarm.period,
                stat=statistic,
            ),
            return_data=False,
        )
