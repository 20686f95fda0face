"""Rollouts and the alarms that call them back, read off the template."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk.assertions import Template

from tests.support.fleet_folder import SPEC, FleetFolder
from tests.synth.conftest import Synth, templates
from tests.synth.resources import only_resource, statements

TWO = SPEC.replace("ml.g5.xlarge}", "ml.g5.xlarge, count: 2}")


def rollout_template(folder: FleetFolder, keys: str) -> Template:
    folder.spec(keys, base=TWO)
    return templates(folder)["triton-fleet-dev-sentences"]


def config(template: Template) -> dict[str, Any]:
    return dict(only_resource(template, "AWS::SageMaker::Endpoint")["Properties"]["DeploymentConfig"])


def rollback_alarms(template: Template) -> dict[str, dict[str, Any]]:
    """By their logical ids; those that tell operators have no name of ours."""
    resources = template.find_resources("AWS::CloudWatch::Alarm").items()
    return {id: alarm["Properties"] for id, alarm in resources if "AlarmName" in alarm["Properties"]}


def test_an_endpoint_without_a_rollout_says_nothing_of_one(template: Synth) -> None:
    stack_template = template("alarms: {errors: 1%}\n")
    assert "DeploymentConfig" not in only_resource(stack_template, "AWS::SageMaker::Endpoint")["Properties"]
    assert rollback_alarms(stack_template) == {}


class TestStrategies:
    def test_all_at_once_moves_to_a_second_fleet(self, folder: FleetFolder) -> None:
        template = rollout_template(
            folder, "rollout: {strategy: all-at-once, bake: 5m, termination_wait: 2m}\n"
        )
        assert config(template)["BlueGreenUpdatePolicy"] == {
            "TrafficRoutingConfiguration": {"Type": "ALL_AT_ONCE", "WaitIntervalInSeconds": 300},
            "TerminationWaitInSeconds": 120,
            "MaximumExecutionTimeoutInSeconds": 300 + 120 + 1800 + 600 + 600,
        }

    def test_a_canary_moves_a_share_first(self, folder: FleetFolder) -> None:
        routing_configuration = config(
            rollout_template(folder, "rollout: {strategy: canary, canary: 50%}\n")
        )["BlueGreenUpdatePolicy"]["TrafficRoutingConfiguration"]
        assert routing_configuration == {
            "Type": "CANARY",
            "CanarySize": {"Type": "CAPACITY_PERCENT", "Value": 50},
            "WaitIntervalInSeconds": 600,
        }

    def test_linear_moves_a_share_at_a_time(self, folder: FleetFolder) -> None:
        routing_configuration = config(
            rollout_template(folder, "rollout: {strategy: linear, step: 25%, bake: 4m}\n")
        )["BlueGreenUpdatePolicy"]["TrafficRoutingConfiguration"]
        assert routing_configuration == {
            "Type": "LINEAR",
            "LinearStepSize": {"Type": "CAPACITY_PERCENT", "Value": 25},
            "WaitIntervalInSeconds": 240,
        }

    def test_rolling_needs_no_second_fleet(self, folder: FleetFolder) -> None:
        made_config = config(
            rollout_template(folder, "rollout: {strategy: rolling, step: 50%, timeout: 2h}\n")
        )
        assert "BlueGreenUpdatePolicy" not in made_config
        assert made_config["RollingUpdatePolicy"] == {
            "MaximumBatchSize": {"Type": "CAPACITY_PERCENT", "Value": 50},
            "RollbackMaximumBatchSize": {"Type": "CAPACITY_PERCENT", "Value": 50},
            "WaitIntervalInSeconds": 600,
            "MaximumExecutionTimeoutInSeconds": 7200,
        }


class TestRollbackAlarms:
    KEYS = "rollout: {strategy: canary, canary: 50%}\nalarms: {errors: 2%, latency_p99: 200ms}\n"

    def alarms(self, template: Template) -> dict[str, dict[str, Any]]:
        return {alarm["MetricName"]: alarm for alarm in rollback_alarms(template).values()}

    def test_they_watch_the_new_configuration_of_the_literal_endpoint(self, folder: FleetFolder) -> None:
        template = rollout_template(folder, self.KEYS)
        (new,) = template.find_resources("AWS::SageMaker::EndpointConfig")
        for alarm in self.alarms(template).values():
            assert alarm["Dimensions"] == [
                {"Name": "EndpointName", "Value": "sentences"},
                {"Name": "VariantName", "Value": "AllTraffic"},
                {"Name": "EndpointConfigName", "Value": {"Fn::GetAtt": [new, "EndpointConfigName"]}},
            ]
            assert alarm["TreatMissingData"] == "notBreaching"

    def test_another_configuration_has_alarms_of_its_own(self, folder: FleetFolder) -> None:
        template = rollout_template(folder, self.KEYS)
        (new,) = template.find_resources("AWS::SageMaker::EndpointConfig")
        for alarm in self.alarms(template).values():
            prefix, config, rest = alarm["AlarmName"]["Fn::Join"][1]
            assert prefix == "TritonFleet/sentences/rollback/"
            assert config == {"Fn::GetAtt": [new, "EndpointConfigName"]}
            assert rest.startswith("-")

    def test_their_thresholds_are_those_of_the_spec_in_the_metrics_units(self, folder: FleetFolder) -> None:
        alarms = self.alarms(rollout_template(folder, self.KEYS))
        errors, latency = alarms["Invocation5XXErrors"], alarms["ModelLatency"]
        assert (errors["Statistic"], errors["Threshold"]) == ("Average", 0.02)
        assert (latency["ExtendedStatistic"], latency["Threshold"]) == ("p99", 200_000)

    def test_each_of_them_calls_the_endpoints_rollout_back(self, folder: FleetFolder) -> None:
        template = rollout_template(folder, self.KEYS)
        named_refs = [
            alarm["AlarmName"]["Ref"] for alarm in config(template)["AutoRollbackConfiguration"]["Alarms"]
        ]
        assert sorted(named_refs) == sorted(rollback_alarms(template))

    def test_the_endpoints_role_sees_them_and_no_others(self, folder: FleetFolder) -> None:
        template = rollout_template(folder, self.KEYS)
        alarms = "arn:aws:cloudwatch:us-east-1:111122223333:alarm:TritonFleet/sentences/rollback/*"
        assert statements(template)["SeeRollbackAlarms"]["Resource"] == alarms

    def test_no_permission_changes_right_before_an_update_of_the_endpoint(self, folder: FleetFolder) -> None:
        """IAM needs a while, and SageMaker asks for the alarms at once."""
        without, *rollouts = (
            only_resource(rollout_template(folder, keys), "AWS::IAM::Policy")
            for keys in ("", self.KEYS, self.KEYS + "container: {thread_count: 3}\n")
        )
        assert rollouts == [without, without]

    def test_in_an_emergency_nothing_calls_it_back(self, folder: FleetFolder) -> None:
        template = rollout_template(
            folder, "rollout: {strategy: all-at-once, rollback_on: []}\nalarms: {errors: 1%}\n"
        )
        assert "AutoRollbackConfiguration" not in config(template)
        assert rollback_alarms(template) == {}


class TestWhichChangesMakeAnotherConfiguration:
    """SageMaker refuses an update with the configuration that runs, so its logical id tells what is new."""

    ROLLOUT = "rollout: {strategy: canary, canary: 50%}\nalarms: {errors: 1%, latency_p99: 200ms}\n"
    SCALING = "scaling: {min: 1, max: 4, invocations_per_instance: 60}\n"
    ALLOWED_SCALING = f"{SCALING}allow: {{FL263: a trial}}\n"
    RAW = f"{ALLOWED_SCALING}cloudformation: {{Endpoint: {{RetainDeploymentConfig: true}}}}\n"

    @pytest.mark.parametrize(
        ("first_text", "other_text"),
        [
            (ROLLOUT, ""),
            (ROLLOUT, ROLLOUT.replace("canary: 50%", "canary: 50%, bake: 20m")),
            (ROLLOUT, ROLLOUT.replace("200ms", "200ms, latency_p50: 100ms")),
            (ROLLOUT, ROLLOUT.replace("canary: 50%", "canary: 50%, rollback_on: [errors]")),
            (SCALING, ""),
            (RAW, ALLOWED_SCALING),
        ],
    )
    def test_what_an_update_is_told_besides_makes_another(
        self, folder: FleetFolder, first_text: str, other_text: str
    ) -> None:
        assert config_id(folder, first_text) != config_id(folder, other_text)

    @pytest.mark.parametrize(
        ("first_text", "other_text"),
        [
            (ROLLOUT, ROLLOUT.replace("200ms", "300ms")),
            (ROLLOUT, f"{ROLLOUT}tags: {{team: search}}\n"),
            (ROLLOUT, f"{ROLLOUT}logs: {{retention_days: 90}}\n"),
            (SCALING, SCALING.replace("max: 4", "max: 8")),
            (RAW, f"{RAW}tags: {{team: search}}\n"),
        ],
    )
    def test_what_is_no_update_of_the_endpoint_makes_none(
        self, folder: FleetFolder, first_text: str, other_text: str
    ) -> None:
        assert config_id(folder, first_text) == config_id(folder, other_text)


def test_the_endpoint_has_no_property_that_the_digest_leaves_out(folder: FleetFolder) -> None:
    keys = (
        "rollout: {strategy: canary, canary: 50%}\nscaling: {min: 2, max: 4, invocations_per_instance: 60}\n"
    )
    properties = only_resource(rollout_template(folder, keys), "AWS::SageMaker::Endpoint")["Properties"]
    texts = {"DeploymentConfig", "RetainAllVariantProperties", "ExcludeRetainedVariantProperties"}
    assert properties.keys() - texts == {"EndpointName", "EndpointConfigName", "Tags"}


def config_id(folder: FleetFolder, keys: str) -> str:
    (resource,) = rollout_template(folder, keys).find_resources("AWS::SageMaker::EndpointConfig")
    return str(resource)
