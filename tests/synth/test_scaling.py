"""Scaling, read off the template."""

from __future__ import annotations

import json
from typing import Any

import pytest
from aws_cdk.assertions import Template

from tests.support.fleet_folder import SPEC, FleetFolder
from tests.synth.conftest import Synth, templates
from tests.synth.resources import SCALING_KEYS, only_resource
from tests.synth.stack_kinds import ALLOWED_NETWORKS, NETWORK

VOLUME_KEY = """\
cloudformation: {EndpointConfig: {KmsKeyId: "arn:aws:kms:us-east-1:111122223333:key/1234abcd"}}
allow: {raw-property-with-own-key: a test, volume-key-beside-local-storage: a test}
"""


def tracked_metrics(template: Template) -> dict[str, dict[str, Any]]:
    """The configuration of each policy, by the measure in its name."""
    policies = template.find_resources("AWS::ApplicationAutoScaling::ScalingPolicy").values()
    return {
        policy["Properties"]["PolicyName"].partition("-")[0]: policy["Properties"][
            "TargetTrackingScalingPolicyConfiguration"
        ]
        for policy in policies
    }


def names(template: Template) -> list[str]:
    """The names of all policies."""
    policies = template.find_resources("AWS::ApplicationAutoScaling::ScalingPolicy").values()
    return sorted(policy["Properties"]["PolicyName"] for policy in policies)


class TestTarget:
    def test_capacity_is_of_the_endpoints_variant(self, template: Synth) -> None:
        target = only_resource(template(SCALING_KEYS), "AWS::ApplicationAutoScaling::ScalableTarget")[
            "Properties"
        ]
        assert (target["MinCapacity"], target["MaxCapacity"]) == (1, 4)
        assert target["ScalableDimension"] == "sagemaker:variant:DesiredInstanceCount"
        assert target["ResourceId"]["Fn::Join"][1][2] == "/variant/AllTraffic"
        assert "RoleARN" not in target

    def test_schedules_change_its_range_in_their_time_zone(self, template: Synth) -> None:
        stack_template = template(
            """\
            scaling:
              min: 1
              max: 4
              schedules:
                - {name: day, at: "cron(0 8 ? * MON-FRI *)", time_zone: Europe/Berlin, min: 3, max: 9}
                - {name: night, at: "cron(0 20 ? * MON-FRI *)", min: 1}
            """
        )
        target = only_resource(stack_template, "AWS::ApplicationAutoScaling::ScalableTarget")["Properties"]
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
        assert tracked_metrics(stack_template) == {}

    def test_an_endpoint_that_is_not_scaled_has_no_target(self, template: Synth) -> None:
        template().resource_count_is("AWS::ApplicationAutoScaling::ScalableTarget", 0)


class TestPolicies:
    def test_each_target_is_tracked_with_its_cooldowns(self, template: Synth) -> None:
        policies = tracked_metrics(template(SCALING_KEYS))
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
        policies = tracked_metrics(template("scaling: {min: 1, max: 4, concurrent_requests: 12}\n"))
        assert policies["ConcurrentRequests"]["TargetValue"] == 12
        assert policies["ConcurrentRequests"]["PredefinedMetricSpecification"] == {
            "PredefinedMetricType": "SageMakerVariantConcurrentRequestsPerModelHighResolution"
        }

    def test_cpu_utilisation_adds_up_the_vcpus_of_an_instance(self, template: Synth) -> None:
        policies = tracked_metrics(template("scaling: {min: 1, max: 4, cpu_utilization: 70}\n"))
        cpu = policies["CpuUtilization"]
        assert cpu["TargetValue"] == 280  # ml.g5.xlarge has four
        assert cpu["CustomizedMetricSpecification"]["MetricName"] == "CPUUtilization"

    def test_several_targets_are_tracked_at_once_and_no_others(self, template: Synth) -> None:
        text = "scaling: {min: 1, max: 4, invocations_per_instance: 6, concurrent_requests: 2, cpu_utilization: 9}\n"
        assert set(tracked_metrics(template(text))) == {
            "InvocationsPerInstance",
            "ConcurrentRequests",
            "CpuUtilization",
        }


class TestNamesOfPolicies:
    """CloudFormation replaces a policy by one of another name, and the guard knows both names."""

    def test_another_instance_type_is_another_name_of_each(
        self, template: Synth, folder: FleetFolder
    ) -> None:
        before = names(template(SCALING_KEYS))
        folder.spec(SCALING_KEYS, base=SPEC.replace("g5", "g6"))
        after = names(templates(folder)["triton-fleet-dev-sentences"])
        assert len(before) == 2
        assert set(before).isdisjoint(after)

    @pytest.mark.parametrize(
        ("before", "after"),
        [(": 600", ": 601"), ("scale_in: 10m", "scale_in: 11m"), ("max: 4", "max: 4, scale_out: 201s")],
    )
    def test_another_configuration_is_another_name(self, template: Synth, before: str, after: str) -> None:
        assert before in SCALING_KEYS
        other_names = set(names(template(SCALING_KEYS.replace(before, after))))
        assert other_names - set(names(template(SCALING_KEYS)))

    def test_another_range_changes_no_name(self, template: Synth) -> None:
        assert names(template(SCALING_KEYS)) == names(template(SCALING_KEYS.replace("max: 4", "max: 5")))


class TestScalingGuard:
    def test_its_steps_stand_around_the_endpoint_whether_it_is_scaled_or_not(self, template: Synth) -> None:
        for keys in ("", SCALING_KEYS):
            stack_template = template(keys)
            guards = stack_template.find_resources("Custom::ScalingGuard")
            steps = {guard["Properties"]["Step"]: name for name, guard in guards.items()}
            (endpoint,) = stack_template.find_resources("AWS::SageMaker::Endpoint")
            assert steps["before"] in only_resource(stack_template, "AWS::SageMaker::Endpoint")["DependsOn"]
            assert endpoint in guards[steps["after"]]["DependsOn"]

    def test_scaling_waits_until_it_may_come_back(self, template: Synth) -> None:
        stack_template = template(SCALING_KEYS)
        guards = stack_template.find_resources("Custom::ScalingGuard")
        (after,) = [name for name, guard in guards.items() if guard["Properties"]["Step"] == "after"]
        for kind in ("ScalableTarget", "ScalingPolicy"):
            for resource in stack_template.find_resources(f"AWS::ApplicationAutoScaling::{kind}").values():
                assert after in resource["DependsOn"]

    def test_they_are_called_by_each_new_configuration_and_each_other_policy(self, template: Synth) -> None:
        stack_template = template(SCALING_KEYS)
        (config,) = stack_template.find_resources("AWS::SageMaker::EndpointConfig")
        for guard in stack_template.find_resources("Custom::ScalingGuard").values():
            given_values = {key: value for key, value in guard["Properties"].items() if key != "ServiceToken"}
            assert given_values.pop("Step") in ("before", "after")
            assert given_values == {
                "EndpointName": "sentences",
                "VariantName": "AllTraffic",
                "InstanceType": "ml.g5.xlarge",
                "EndpointConfigName": {"Fn::GetAtt": [config, "EndpointConfigName"]},
                "Policies": names(stack_template),
            }

    def test_a_stack_without_scaling_names_no_policies(self, template: Synth) -> None:
        for guard in template().find_resources("Custom::ScalingGuard").values():
            assert "Policies" not in guard["Properties"]

    @pytest.mark.parametrize("keys", ["", NETWORK, VOLUME_KEY], ids=["neither", "network", "key"])
    def test_the_first_outlives_the_endpoint_where_its_role_is_needed_to_clean_up(
        self, template: Synth, folder: FleetFolder, keys: str
    ) -> None:
        folder.environment(ALLOWED_NETWORKS)
        stack_template = template(keys)
        guards = stack_template.find_resources("Custom::ScalingGuard").values()
        looks = {guard["Properties"]["Step"]: guard["Properties"].get("CleanupLooks") for guard in guards}
        assert looks == {"before": 15 if keys else None, "after": None}

    def test_the_roles_policy_is_deleted_after_the_first(self, template: Synth, folder: FleetFolder) -> None:
        folder.environment(ALLOWED_NETWORKS)
        resources = template(NETWORK).to_json()["Resources"]
        (before,) = [
            name for name, resource in resources.items() if resource["Properties"].get("Step") == "before"
        ]
        needed_version, befores = set[str](), {before}
        while befores:
            name = befores.pop()
            needed_version.add(name)
            text = json.dumps(resources[name])
            befores |= {resource for resource in resources if f'"{resource}"' in text} - needed_version
        policies = {
            name
            for name, resource in resources.items()
            if resource["Type"] == "AWS::IAM::Policy" and name.startswith("Role")
        }
        assert policies
        assert policies <= needed_version

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
        granted_text = json.dumps(
            [policy for name, policy in policies.items() if name.startswith("ScalingGuard")]
        )
        assert "application-autoscaling:DeregisterScalableTarget" in granted_text
        for action in ('sagemaker:UpdateEndpoint"', "sagemaker:Delete", "sagemaker:Create", "iam:", "s3:*"):
            assert action not in granted_text
