"""Scaling, read off the template."""

from __future__ import annotations

import json
from typing import Any

from aws_cdk.assertions import Template

from tests.synth.conftest import Synth
from tests.synth.resources import SCALED, only


def tracked(template: Template) -> dict[str, dict[str, Any]]:
    """The configuration of each policy, by name."""
    policies = template.find_resources("AWS::ApplicationAutoScaling::ScalingPolicy").values()
    return {
        policy["Properties"]["PolicyName"]: policy["Properties"]["TargetTrackingScalingPolicyConfiguration"]
        for policy in policies
    }


class TestTarget:
    def test_capacity_is_of_the_endpoints_variant(self, template: Synth) -> None:
        target = only(template(SCALED), "AWS::ApplicationAutoScaling::ScalableTarget")["Properties"]
        assert (target["MinCapacity"], target["MaxCapacity"]) == (1, 4)
        assert target["ScalableDimension"] == "sagemaker:variant:DesiredInstanceCount"
        assert target["ResourceId"]["Fn::Join"][1][2] == "/variant/AllTraffic"
        assert "RoleARN" not in target

    def test_schedules_change_its_range_in_their_time_zone(self, template: Synth) -> None:
        made = template(
            """\
            scaling:
              min: 1
              max: 4
              schedules:
                - {name: day, at: "cron(0 8 ? * MON-FRI *)", time_zone: Europe/Berlin, min: 3, max: 9}
                - {name: night, at: "cron(0 20 ? * MON-FRI *)", min: 1}
            """
        )
        target = only(made, "AWS::ApplicationAutoScaling::ScalableTarget")["Properties"]
        assert target["ScheduledActions"] == [
            {
                "ScheduledActionName": "day",
                "Schedule": "cron(0 8 ? * MON-FRI *)",
                "Timezone": "Europe/Berlin",
                "ScalableTargetAction": {"MinCapacity": 3, "MaxCapacity": 9},
            },
            {
                "ScheduledActionName": "night",
                "Schedule": "cron(0 20 ? * MON-FRI *)",
                "Timezone": "UTC",
                "ScalableTargetAction": {"MinCapacity": 1},
            },
        ]
        assert tracked(made) == {}

    def test_an_endpoint_that_is_not_scaled_has_no_target(self, template: Synth) -> None:
        template().resource_count_is("AWS::ApplicationAutoScaling::ScalableTarget", 0)


class TestPolicies:
    def test_each_target_is_tracked_with_its_cooldowns(self, template: Synth) -> None:
        policies = tracked(template(SCALED))
        assert policies["InvocationsPerInstance"] == {
            "PredefinedMetricSpecification": {
                "PredefinedMetricType": "SageMakerVariantInvocationsPerInstance"
            },
            "TargetValue": 600,
            "ScaleInCooldown": 600,
            "ScaleOutCooldown": 200,
        }
        gpu = policies["GpuUtilization"]["CustomizedMetricSpecification"]
        assert (gpu["Namespace"], gpu["MetricName"]) == ("/aws/sagemaker/Endpoints", "GPUUtilization")
        assert (gpu["Statistic"], gpu["Unit"]) == ("Average", "Percent")
        assert [dimension["Name"] for dimension in gpu["Dimensions"]] == ["EndpointName", "VariantName"]

    def test_concurrent_requests_are_tracked_in_high_resolution(self, template: Synth) -> None:
        policies = tracked(template("scaling: {min: 1, max: 4, concurrent_requests: 12}\n"))
        assert policies["ConcurrentRequests"]["TargetValue"] == 12
        assert policies["ConcurrentRequests"]["PredefinedMetricSpecification"] == {
            "PredefinedMetricType": "SageMakerVariantConcurrentRequestsPerModelHighResolution"
        }

    def test_cpu_utilisation_adds_up_the_vcpus_of_an_instance(self, template: Synth) -> None:
        policies = tracked(template("scaling: {min: 1, max: 4, cpu_utilization: 70}\n"))
        cpu = policies["CpuUtilization"]
        assert cpu["TargetValue"] == 280  # ml.g5.xlarge has four
        assert cpu["CustomizedMetricSpecification"]["MetricName"] == "CPUUtilization"

    def test_several_targets_are_tracked_at_once_and_no_others(self, template: Synth) -> None:
        some = "scaling: {min: 1, max: 4, invocations_per_instance: 6, concurrent_requests: 2, cpu_utilization: 9}\n"
        assert set(tracked(template(some))) == {
            "InvocationsPerInstance",
            "ConcurrentRequests",
            "CpuUtilization",
        }


class TestScalingGuard:
    def test_its_steps_stand_around_the_endpoint_whether_it_is_scaled_or_not(self, template: Synth) -> None:
        for keys in ("", SCALED):
            made = template(keys)
            guards = made.find_resources("Custom::ScalingGuard")
            steps = {guard["Properties"]["Step"]: name for name, guard in guards.items()}
            (endpoint,) = made.find_resources("AWS::SageMaker::Endpoint")
            assert steps["before"] in only(made, "AWS::SageMaker::Endpoint")["DependsOn"]
            assert endpoint in guards[steps["after"]]["DependsOn"]

    def test_scaling_waits_until_it_may_come_back(self, template: Synth) -> None:
        made = template(SCALED)
        guards = made.find_resources("Custom::ScalingGuard")
        (after,) = [name for name, guard in guards.items() if guard["Properties"]["Step"] == "after"]
        for kind in ("ScalableTarget", "ScalingPolicy"):
            for resource in made.find_resources(f"AWS::ApplicationAutoScaling::{kind}").values():
                assert after in resource["DependsOn"]

    def test_they_are_called_by_a_change_of_the_instance_type_alone(self, template: Synth) -> None:
        for guard in template(SCALED).find_resources("Custom::ScalingGuard").values():
            told = {key: value for key, value in guard["Properties"].items() if key != "ServiceToken"}
            assert told.pop("Step") in ("before", "after")
            assert told == {
                "EndpointName": "sentences",
                "VariantName": "AllTraffic",
                "InstanceType": "ml.g5.xlarge",
            }

    def test_its_token_stays_for_good_as_cloudformation_refuses_another_one(self, template: Synth) -> None:
        name = "triton-fleet-dev-scaling-guard"
        for guard in template().find_resources("Custom::ScalingGuard").values():
            token = guard["Properties"]["ServiceToken"]
            assert token == f"arn:aws:lambda:us-east-1:111122223333:function:{name}"
        template("", "triton-fleet-dev").has_resource_properties(
            "AWS::Lambda::Function", {"FunctionName": name, "Handler": "framework.onEvent"}
        )

    def test_its_function_may_change_scaling_and_nothing_else_of_an_endpoint(self, template: Synth) -> None:
        policies = template("", "triton-fleet-dev").find_resources("AWS::IAM::Policy")
        granted = json.dumps([each for name, each in policies.items() if name.startswith("ScalingGuard")])
        assert "application-autoscaling:DeregisterScalableTarget" in granted
        for action in ('sagemaker:UpdateEndpoint"', "sagemaker:Delete", "sagemaker:Create", "iam:", "s3:*"):
            assert action not in granted
