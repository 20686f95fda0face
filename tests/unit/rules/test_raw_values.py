"""Raw CloudFormation properties have names that CloudFormation knows and values that it takes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.raw_properties import case, codes, config, raw_message, variant
from triton_fleet.rules.registry import rules

FREQUENCY = "MetricPublishFrequencyInSeconds"


class TestNames:
    def test_an_unknown_name_is_told_with_the_nearest(self) -> None:
        message, hint = raw_message("FL268", {"Endpoint": {"RetainDeploymentConfg": True}})
        assert message == "AWS::SageMaker::Endpoint has no property `RetainDeploymentConfg` as of 2026-10-20"
        assert hint == "did you mean `RetainDeploymentConfig`?"

    @pytest.mark.parametrize(
        ("properties", "message", "hint"),
        [
            (
                {"ProductionVariants.VolumeSizeInGB": 1},
                "ProductionVariants is a list: `VolumeSizeInGB` is not an index of it",
                "write `ProductionVariants.0.VolumeSizeInGB`",
            ),
            (
                {"ProductionVariants": {"0.EnableSSMAccess": True}},
                "`0.EnableSSMAccess` below another key is one name, not a path",
                "write `ProductionVariants.0.EnableSSMAccess` as one key",
            ),
            (
                {"ExecutionRoleArn.0": "a"},
                "there is no `0` in it",
                "set a value for `ExecutionRoleArn`",
            ),
            (
                {"DataCaptureConfig.CaptureOptions.0.CaptureMode": "Input"},
                "the template has no list DataCaptureConfig.CaptureOptions whose item could be changed",
                "write `DataCaptureConfig.CaptureOptions` as a list",
            ),
            ({"EndpointConfigArn": "a"}, "EndpointConfigArn is set by CloudFormation", "leave it out"),
            ({"MetricsConfig.0": 1}, "MetricsConfig has no property `0`", "known: "),
        ],
    )
    def test_a_path_that_leads_nowhere_is_told(
        self, properties: dict[str, Any], message: str, hint: str
    ) -> None:
        result = raw_message("FL268", {"EndpointConfig": properties})
        assert message in result[0]
        assert hint in result[1]

    def test_what_stands_below_an_unknown_name_is_not_told_again(self) -> None:
        assert config(Unknown={"A": {"B": 1}, "C": [1]}) == ["FL268"]

    def test_tags_are_laid_over_those_that_are_there(self) -> None:
        assert codes({"Model": {"Tags.0.Value": "x"}}) == []


class TestValues:
    @pytest.mark.parametrize("spelling", range(4))
    def test_a_value_outside_its_limits_is_told_in_every_spelling(self, spelling: int) -> None:
        properties = variant("VariantInstanceProvisionTimeoutInSeconds", 59)[spelling]
        message, hint = raw_message("FL269", {"EndpointConfig": properties})
        name = "ProductionVariants.0.VariantInstanceProvisionTimeoutInSeconds"
        assert message == f"{name} is 59, which CloudFormation does not accept"
        assert hint == "write a whole number of 300 to 3600"

    @pytest.mark.parametrize("value", [60, 299, "120"])
    def test_a_value_on_which_sources_disagree_is_a_warning_that_names_both(self, value: object) -> None:
        (properties, *_) = variant("VariantInstanceProvisionTimeoutInSeconds", value)
        (problem,) = case({"EndpointConfig": properties}).problems(rules()["FL269"])
        assert not problem.certain
        assert (
            "CloudFormation's schema and the API's model state a whole number of 300 to 3600"
            in problem.message
        )
        assert problem.message.endswith("Deepgram's guide to instance pools states 60 to 3600")

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("ProductionVariants.0.RoutingConfig.RoutingStrategy", "ROUND_ROBIN"),
            ("ProductionVariants.0.EnableSSMAccess", "maybe"),
            ("ProductionVariants.0.InstancePools", []),
            ("VpcConfig", {"Subnets": ["subnet 1"], "SecurityGroupIds": ["sg-1"]}),
            (f"MetricsConfig.{FREQUENCY}", 45),
            ("MetricsConfig", "on"),
        ],
    )
    def test_type_choice_pattern_and_number_of_items_are_judged(self, name: str, value: object) -> None:
        message, _ = raw_message("FL269", {"EndpointConfig": {name: value}})
        assert message

    @pytest.mark.parametrize(
        ("resource", "properties", "key"),
        [
            ("Model", {"VpcConfig": None}, "network.subnets"),
            ("EndpointConfig", {"VpcConfig.Subnets": ["subnet-1"]}, "network.subnets"),
            ("Model", {"EnableNetworkIsolation": True}, "network.isolated"),
            ("EndpointConfig", {"EnableNetworkIsolation": False}, "network.isolated"),
            ("EndpointConfig", {"DataCaptureConfig.InitialSamplingPercentage": 5}, "capture"),
            ("EndpointConfig", {"MetricsConfig.EnableEnhancedMetrics": True}, "metrics"),
            ("EndpointConfig", {"MetricsConfig": {FREQUENCY: 10}}, "metrics"),
            ("EndpointConfig", {"KmsKeyId": "alias/models"}, "kms_key in environments/*.yaml"),
        ],
    )
    def test_what_roles_and_rules_go_by_is_said_by_its_key(
        self, resource: str, properties: dict[str, Any], key: str
    ) -> None:
        assert raw_message("FL263", {resource: properties})[1] == f"write `{key}` instead"

    @pytest.mark.parametrize(
        "properties", [{"ExplainerConfig.ClarifyExplainerConfig": {}}, {"ExplainerConfig": {}}]
    )
    def test_what_no_key_can_say_is_to_be_left_out(self, properties: dict[str, Any]) -> None:
        message, hint = raw_message("FL263", {"EndpointConfig": properties})
        assert "Clarify calls with CSV or JSON lines, which Triton does not read" in message
        assert hint == "leave it out"

    @pytest.mark.parametrize(
        ("resource", "properties"),
        [
            ("EndpointConfig", {"DataCaptureConfig": {"InitialSamplingPercentage": 5}}),
            ("EndpointConfig", {"VpcConfig.Subnets": ["subnet-00000001"]}),
            ("Model", {"VpcConfig": {"Subnets": ["subnet-00000001"]}}),
            ("Model", {"PrimaryContainer.ModelDataSource": {"S3DataSource": {}}}),
        ],
    )
    def test_a_mapping_that_a_key_sets_lacks_nothing(self, resource: str, properties: dict[str, Any]) -> None:
        assert raw_message("FL263", {resource: properties})
        assert case({resource: properties}).problems(rules()["FL269"]) == []

    @pytest.mark.parametrize("function", [{"Ref": "A"}, {"Fn::ImportValue": "a"}])
    def test_what_cloudformation_computes_is_not_judged(self, function: object) -> None:
        assert config(**{"ProductionVariants.0.EnableSSMAccess": function}) == []

    def test_a_property_is_taken_out_by_an_empty_value_of_a_whole_path(self) -> None:
        assert config(**{"ProductionVariants.0.RoutingConfig": None}) == []

    def test_an_empty_value_below_another_key_does_nothing(self) -> None:
        message, hint = raw_message(
            "FL269", {"EndpointConfig": {"ProductionVariants.0": {"RoutingConfig": None}}}
        )
        assert message == "ProductionVariants.0.RoutingConfig has no value, and CDK ignores it"
        assert hint == "write `ProductionVariants.0.RoutingConfig` as one key to remove it"

    def test_a_mapping_that_the_spec_begins_has_all_that_is_required(self) -> None:
        problems = case({"EndpointConfig": {"AsyncInferenceConfig.ClientConfig": {}}}).problems(
            rules()["FL269"]
        )
        assert [problem.message for problem in problems] == [
            "AsyncInferenceConfig lacks `OutputConfig`, which CloudFormation requires"
        ]

    def test_a_rollout_is_said_by_its_key(self) -> None:
        rolling_policy = {
            "MaximumBatchSize": {"Type": "INSTANCE_COUNT", "Value": 1},
            "WaitIntervalInSeconds": 60,
        }
        _, hint = raw_message("FL263", {"Endpoint": {"DeploymentConfig.RollingUpdatePolicy": rolling_policy}})
        assert hint == "write `rollout` instead"
