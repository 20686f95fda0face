"""A difference of two templates in the words of a spec."""

from __future__ import annotations

from typing import Any

import pytest

from triton_fleet.changes.update_effect import differing_areas


def stack(**properties: dict[str, Any]) -> dict[str, Any]:
    kinds = {
        "Model": "AWS::SageMaker::Model",
        "Config": "AWS::SageMaker::EndpointConfig",
        "Endpoint": "AWS::SageMaker::Endpoint",
        "Policy": "AWS::ApplicationAutoScaling::ScalingPolicy",
        "Alarm": "AWS::CloudWatch::Alarm",
        "Thing": "AWS::Some::Thing",
    }
    return {
        "Resources": {name: {"Type": kinds[name], "Properties": item} for name, item in properties.items()}
    }


def variant(**properties: object) -> dict[str, Any]:
    return {"ProductionVariants": [{"VariantName": "AllTraffic", **properties}]}


@pytest.mark.parametrize(
    ("before", "after", "areas"),
    [
        (stack(Model={"ModelName": "a"}), stack(Model={"ModelName": "a"}), ()),
        (
            stack(Config=variant(InstanceType="ml.g5.xlarge")),
            stack(Config=variant(InstanceType="ml.g6.xlarge")),
            ("instance",),
        ),
        (
            stack(Model={"PrimaryContainer": {"Image": "a"}}, Config=variant(ModelName="a")),
            stack(Model={"PrimaryContainer": {"Image": "b"}}, Config=variant(ModelName="b")),
            ("image",),
        ),
        (
            stack(Model={"PrimaryContainer": {"ModelDataUrl": "a", "Environment": {"A": "1"}}}),
            stack(Model={"PrimaryContainer": {"ModelDataUrl": "b", "Environment": {}}}),
            ("models", "container"),
        ),
        (stack(), stack(Policy={"PolicyName": "a"}, Alarm={"Threshold": 1}), ("scaling", "alarms")),
        (
            stack(Endpoint={"DeploymentConfig": {"A": 1}, "EndpointConfigName": "a"}),
            stack(Endpoint={"EndpointConfigName": "b"}),
            ("rollout",),
        ),
        (stack(Thing={"A": 1}), stack(), ("other resources",)),
    ],
)
def test_each_part_is_named_once(
    before: dict[str, Any], after: dict[str, Any], areas: tuple[str, ...]
) -> None:
    assert differing_areas(before, after) == areas


def test_an_attribute_beside_the_properties_counts_for_its_resource() -> None:
    before, after = stack(Model={"ModelName": "a"}), stack(Model={"ModelName": "a"})
    after["Resources"]["Model"]["DeletionPolicy"] = "Retain"
    assert differing_areas(before, after) == ("models",)


def test_a_resource_with_another_logical_id_is_compared_with_the_one_of_its_path() -> None:
    before, after = (
        {
            "Resources": {
                name: {
                    "Type": "AWS::SageMaker::EndpointConfig",
                    "Properties": variant(ModelName=name, InitialInstanceCount=1),
                    "Metadata": {"aws:cdk:path": "stack/Config"},
                }
            }
        }
        for name in ("ConfigA", "ConfigB")
    )
    assert differing_areas(before, after) == ()
