"""Every metric that a template names is one that such an endpoint publishes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from aws_cdk.assertions import Template

from tests.support.fleet_folder import FleetFolder
from tests.synth.conftest import templates
from tests.synth.resources import KINDS, STACK, dimensions_of, only_resource, or_endpoint
from triton_fleet.catalog.data_file import data_file
from triton_fleet.catalog.metrics import endpoint_metric, triton_metric
from triton_fleet.catalog.variables import variables_of

OF = {"EndpointName": "ENDPOINT", "VariantName": "AllTraffic"}
"""The values that dimensions have; any reference stands for the endpoint."""


class MetricUse(NamedTuple):
    """A metric as a template names it, with the names and values of its dimensions."""

    namespace: str
    name: str
    dimensions: tuple[tuple[str, str], ...]


class TestMetrics:
    @pytest.mark.parametrize("kind", KINDS)
    def test_each_is_one_that_such_an_endpoint_publishes(self, folder: FleetFolder, kind: str) -> None:
        template, known_values = self.metrics_template(folder, kind), self.known_metrics(kind)
        result = set(metric_uses(template))
        metric_uses_of_aws = {
            MetricUse(metric.namespace, metric.name, tuple((name, OF[name]) for name in metric.dimensions))
            for metric in known_values
        }
        # Nothing that an operator could want to see is left out.
        assert {
            item for item in result if "EndpointConfigName" not in dict(item.dimensions)
        } == metric_uses_of_aws

        alarms = {item for item in result if "EndpointConfigName" in dict(item.dimensions)}
        assert {(alarm.namespace, alarm.name) for alarm in alarms} == {
            ("AWS/SageMaker", "Invocation5XXErrors"),
            ("AWS/SageMaker", "ModelLatency"),
        }
        assert {alarm._replace(dimensions=alarm.dimensions[:2]) for alarm in alarms} <= metric_uses_of_aws

    @pytest.mark.parametrize("kind", KINDS)
    def test_each_that_scaling_knows_by_a_name_of_its_own_is_too(
        self, folder: FleetFolder, kind: str
    ) -> None:
        policies = self.metrics_template(folder, kind).find_resources(
            "AWS::ApplicationAutoScaling::ScalingPolicy"
        )
        policy_configurations = [
            policy["Properties"]["TargetTrackingScalingPolicyConfiguration"] for policy in policies.values()
        ]
        predefined_metrics = {
            policy_configuration["PredefinedMetricSpecification"]["PredefinedMetricType"]
            for policy_configuration in policy_configurations
            if "PredefinedMetricSpecification" in policy_configuration
        }
        assert predefined_metrics
        assert predefined_metrics <= {metric.predefined_type for metric in self.known_metrics(kind)}
        assert all(
            ("PredefinedMetricSpecification" in policy_configuration)
            != ("CustomizedMetricSpecification" in policy_configuration)
            for policy_configuration in policy_configurations
        )

    @pytest.mark.parametrize("kind", KINDS)
    def test_each_of_tritons_own_is_searched_where_the_container_publishes_it(
        self, folder: FleetFolder, kind: str
    ) -> None:
        template = self.metrics_template(folder, kind)
        variables = only_resource(template, "AWS::SageMaker::Model")["Properties"]["PrimaryContainer"][
            "Environment"
        ]
        matches = re.findall(r'Namespace=\\"([^"\\]+)\\" MetricName=\\"([^"\\]+)\\"', _body(template))
        assert matches
        assert {namespace for namespace, _ in matches} == {
            variables[name] for name in variables_of("namespace")
        }
        on_gpu = {"gpu_power", "gpu_memory_used", "gpu_memory_total"} if kind != "cpu" else set()
        measures = {text for text in data_file("metrics.yaml")["triton"] if not text.startswith("gpu_")}
        assert {name for _, name in matches} == {triton_metric(measure) for measure in measures | on_gpu}

    @staticmethod
    def metrics_template(folder: FleetFolder, kind: str) -> Template:
        base, keys = KINDS[kind]
        folder.spec(keys, base=base)
        return templates(folder)[STACK]

    @staticmethod
    def known_metrics(kind: str) -> list[Any]:
        """The catalog's metrics of one kind; the multi-model endpoint here is on a GPU."""
        kinds = {"gpu": {"gpu"}, "cpu": set[str](), "multi-model": {"gpu", "multi-model"}}[kind]
        metrics = [endpoint_metric(measure) for measure in data_file("metrics.yaml")["metrics"]]
        return [metric for metric in metrics if {"all", *kinds} & set(metric.kinds)]

    @pytest.mark.parametrize("measure", ["invocations_per_instance", "concurrent_requests"])
    def test_an_asynchronous_endpoint_is_not_scaled_on_real_time_calls(
        self, folder: FleetFolder, measure: str
    ) -> None:
        output = "{OutputConfig: {S3OutputPath: s3://answers/}}"
        folder.spec(
            f"scaling: {{min: 1, max: 4, {measure}: 60}}\n"
            f"cloudformation: {{EndpointConfig: {{AsyncInferenceConfig: {output}}}}}\n"
        )
        assert [finding.code for finding in folder.findings()] == ["FL296", "FL263"]


def metric_uses(template: Template) -> Iterator[MetricUse]:
    """The metrics of dashboard, scaling policies and alarms."""
    for widget in json.loads(_body(template))["widgets"]:
        for namespace, name, *dimensions in _plain(widget["properties"].get("metrics", [])):
            pairs = zip(dimensions[::2], map(or_endpoint, dimensions[1::2]), strict=True)
            yield MetricUse(namespace, name, tuple(pairs))
    for policy in template.find_resources("AWS::ApplicationAutoScaling::ScalingPolicy").values():
        configuration = policy["Properties"]["TargetTrackingScalingPolicyConfiguration"]
        if metric := configuration.get("CustomizedMetricSpecification"):
            yield MetricUse(metric["Namespace"], metric["MetricName"], tuple(dimensions_of(policy).items()))
    for alarm in template.find_resources("AWS::CloudWatch::Alarm").values():
        properties = alarm["Properties"]
        stats = [query["MetricStat"] for query in properties.get("Metrics", ()) if "MetricStat" in query]
        for metric in [stat["Metric"] for stat in stats] + [properties] * ("MetricName" in properties):
            named_or_endpoints = {
                dimension["Name"]: or_endpoint(dimension["Value"]) for dimension in metric["Dimensions"]
            }
            yield MetricUse(metric["Namespace"], metric["MetricName"], tuple(named_or_endpoints.items()))


def _plain(metrics: list[list[Any]]) -> Iterator[list[str]]:
    """The metrics of a widget without its expressions, and without their settings."""
    for metric in metrics:
        if len(metric) > 1:
            yield [part for part in metric if isinstance(part, str)]


def _body(template: Template) -> str:
    return str(only_resource(template, "AWS::CloudWatch::Dashboard")["Properties"]["DashboardBody"])
