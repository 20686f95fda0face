"""Raw CloudFormation properties do not go around the rules, however they are spelled."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.raw_properties import case, codes, config, raw_message, variant
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.raw import is_intrinsic, raw_properties

AMI = "al2023-ami-sagemaker-inference-gpu-4-1"


def endpoint_context(resource: str, **properties: Any) -> EndpointContext:
    """A spec with raw properties of one resource."""
    return case({resource: properties}).context()


class TestSpellings:
    @pytest.mark.parametrize("properties", variant("EnableSSMAccess", False))
    def test_every_spelling_leads_to_the_same_property(self, properties: dict[str, Any]) -> None:
        actual_properties = list(
            raw_properties(endpoint_context("EndpointConfig", **properties).spec, "EndpointConfig")
        )
        assert (actual_properties[-1].name, actual_properties[-1].value) == (
            "ProductionVariants.0.EnableSSMAccess",
            False,
        )
        assert actual_properties[-1].path[:3] == ("cloudformation", "EndpointConfig", next(iter(properties)))

    def test_a_period_with_a_backslash_is_part_of_a_name(self) -> None:
        (result,) = raw_properties(endpoint_context("Model", **{"A.b\\.c": 1}).spec, "Model")
        assert result.parts == ("A", "b.c")

    def test_what_an_intrinsic_function_is_given_is_no_property(self) -> None:
        (result,) = raw_properties(endpoint_context("Model", A={"Fn::If": ["x", 1, 2]}).spec, "Model")
        assert result.name == "A"

    @pytest.mark.parametrize("value", [{"Ref": "A", "B": 1}, {}, "Ref", ["Ref"], {"Reference": 1}])
    def test_what_has_not_one_key_of_a_function_is_no_intrinsic(self, value: object) -> None:
        assert not is_intrinsic(value)


class TestHostImage:
    @pytest.mark.parametrize("properties", variant("InferenceAmiVersion", AMI))
    def test_a_host_image_is_judged_in_every_spelling(self, properties: dict[str, Any]) -> None:
        endpoint = endpoint_context("EndpointConfig", **properties)
        assert endpoint.named_ami == AMI
        assert endpoint.named_ami_path[:2] == ("cloudformation", "EndpointConfig")
        assert "FL223" in config(**properties)

    def test_the_last_spelling_wins_as_in_the_template(self) -> None:
        first, *_, last = variant("InferenceAmiVersion", AMI)
        first["ProductionVariants.0.InferenceAmiVersion"] = "other"
        assert endpoint_context("EndpointConfig", **first, **last).named_ami == AMI

    def test_one_that_is_taken_out_is_not_the_one_that_was_chosen(self) -> None:
        properties = {"ProductionVariants.0.InferenceAmiVersion": None}
        assert endpoint_context("EndpointConfig", **properties).named_ami == ""
        assert config(**properties) == ["FL223", "FL263"]

    @pytest.mark.parametrize("empty", [None, ""])
    def test_an_empty_value_is_told_as_what_it_is_and_not_as_a_name(self, empty: str | None) -> None:
        message, hint = raw_message(
            "FL223", {"EndpointConfig": {"ProductionVariants.0.InferenceAmiVersion": empty}}
        )
        assert message == "an empty value names no host image"
        assert hint == "leave it out: the host image is chosen by release and family"

    def test_of_another_variant_it_names_none(self) -> None:
        properties = {"ShadowProductionVariants": [{"VariantName": "b", "InferenceAmiVersion": AMI}]}
        assert endpoint_context("EndpointConfig", **properties).named_ami is None


class TestWhatFollowsFromTheSpec:
    @pytest.mark.parametrize(
        "name", ["InstanceType", "VariantName", "ServerlessConfig", "InitialInstanceCount"]
    )
    @pytest.mark.parametrize("spelling", range(4))
    def test_a_property_of_the_variant_is_not_set_in_any_spelling(self, name: str, spelling: int) -> None:
        assert "FL263" in config(**variant(name, {"Ref": "Other"})[spelling])

    @pytest.mark.parametrize(
        ("resource", "name"),
        [
            ("Model", "PrimaryContainer.Environment.A"),
            ("Model", "PrimaryContainer.Environment"),
            ("Model", "PrimaryContainer.ModelDataSource.S3DataSource.S3Uri"),
            ("Model", "PrimaryContainer.ModelDataUrl"),
            ("Model", "Containers"),
        ],
    )
    def test_a_property_of_the_other_resources_is_not_set(self, resource: str, name: str) -> None:
        assert "FL263" in codes({resource: {name: {"Ref": "Other"}}})

    def test_a_mapping_is_told_once_not_for_each_value_in_it(self) -> None:
        nested_files = {
            "Environment": {"A": "1", "B": "2"},
            "MultiModelConfig": {"ModelCacheSetting": "Disabled"},
        }
        assert codes({"Model": {"PrimaryContainer": nested_files}}) == ["FL263"]

    def test_a_property_of_the_same_name_elsewhere_is_free(self) -> None:
        shadow = {"VariantName": "b", "ModelName": "b", "InstanceType": "ml.g5.xlarge"}
        assert config(ShadowProductionVariants=[shadow]) == []

    @pytest.mark.parametrize("name", ["ServerlessConfig", "ManagedInstanceScaling"])
    def test_a_shadow_variant_has_nothing_that_the_variant_may_not_have(self, name: str) -> None:
        shadow = {"VariantName": "b", "InstanceType": "ml.g5.xlarge", name: {"Ref": "Other"}}
        message, _ = raw_message("FL263", {"EndpointConfig": {"ShadowProductionVariants": [shadow]}})
        assert message.startswith(f"ShadowProductionVariants.0.{name} must not be set: ")

    @pytest.mark.parametrize(
        "name",
        [
            "InitialInstanceCount",
            "InferenceAmiVersion",
            "ModelDataDownloadTimeoutInSeconds",
            "EnableSSMAccess",
        ],
    )
    def test_a_shadow_variant_says_for_itself_what_keys_say_of_the_variant(self, name: str) -> None:
        shadow = {"VariantName": "b", "ModelName": "b", "InstanceType": "ml.g5.xlarge", name: {"Ref": "Own"}}
        assert "FL263" not in config(ShadowProductionVariants=[shadow])

    def test_an_asynchronous_endpoint_is_refused_as_nothing_could_invoke_it(self) -> None:
        message, hint = raw_message(
            "FL263", {"EndpointConfig": {"AsyncInferenceConfig": {"OutputConfig": {}}}}
        )
        assert message.startswith("AsyncInferenceConfig must not be set: SageMaker answers no InvokeEndpoint")
        assert hint == "leave it out"

    def test_a_model_package_is_refused_as_no_rule_has_read_it(self) -> None:
        assert codes({"Model": {"PrimaryContainer.ModelPackageName": "a-package"}}) == ["FL263"]


class TestWholes:
    @pytest.mark.parametrize(
        ("resource", "properties", "hint"),
        [
            (
                "EndpointConfig",
                {"ProductionVariants": [{"EnableSSMAccess": True}]},
                "ProductionVariants.0.KEY",
            ),
            ("EndpointConfig", {"ProductionVariants": None}, "ProductionVariants.0.KEY"),
            ("EndpointConfig", {"ProductionVariants.0": {"Fn::If": []}}, "ProductionVariants.0.KEY"),
            ("Model", {"PrimaryContainer": None}, "PrimaryContainer.KEY"),
        ],
    )
    def test_what_replaces_all_that_follows_from_the_spec_is_told(
        self, resource: str, properties: dict[str, Any], hint: str
    ) -> None:
        assert codes({resource: properties}) == ["FL298"]
        assert raw_message("FL298", {resource: properties})[1] == f"write `{hint}` for each key to change"

    def test_a_list_of_ones_own_is_written_whole(self) -> None:
        pools = [{"InstanceType": "ml.g5.xlarge", "Priority": 1}]
        assert config(**{"ProductionVariants.0.InstancePools": pools}) == []


class TestStorage:
    @pytest.mark.parametrize("spelling", range(3))
    def test_a_volume_beside_local_storage_is_told_in_every_spelling(self, spelling: int) -> None:
        assert config(**variant("VolumeSizeInGB", 100)[spelling]) == ["FL230"]

    def test_a_key_for_the_storage_is_that_of_the_configuration(self) -> None:
        assert config(KmsKeyId="alias/models") == ["FL231", "FL263"]
        pool = {"ProductionVariants.0.InstancePools": [{"InstanceType": "ml.c5.xlarge", "Priority": 2}]}
        assert config(KmsKeyId="alias/models", **pool) == ["FL263"]
        dump = {"DestinationS3Uri": "s3://b/dumps", "KmsKeyId": "alias/models"}
        assert config(**{"ProductionVariants.0.CoreDumpConfig": dump}) == []
