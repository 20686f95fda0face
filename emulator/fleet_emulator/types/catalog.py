"""Which resource type is hosted by what."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files

from moto.cloudformation.parsing import NULL_MODELS, get_model_map

from fleet_emulator.types import (
    cloudwatch,
    functions,
    iam,
    logs,
    moto_types,
    resource,
    s3,
    sagemaker,
    scaling,
    sns,
)
from fleet_emulator.types.custom_resource import CustomResource
from fleet_emulator.types.moto_types import MotoType
from fleet_emulator.types.resource import Declaration, ResourceType

_OURS: dict[str, ResourceType] = {
    "AWS::ApplicationAutoScaling::ScalableTarget": scaling.ScalableTarget(),
    "AWS::ApplicationAutoScaling::ScalingPolicy": scaling.ScalingPolicy(),
    "AWS::CDK::Metadata": resource.NoEffect(),
    "AWS::CloudFormation::CustomResource": CustomResource(),
    # moto would run nested stacks on its own, without rollback.
    "AWS::CloudFormation::Stack": resource.UnhostedType(),
    "AWS::CloudWatch::Alarm": cloudwatch.Alarm(),
    "AWS::CloudWatch::Dashboard": cloudwatch.Dashboard(),
    "AWS::CodeBuild::Project": functions.Project(),
    "AWS::IAM::OIDCProvider": iam.OidcProvider(),
    "AWS::IAM::Policy": iam.Policy(),
    "AWS::IAM::Role": iam.Role(),
    "AWS::Lambda::Function": functions.Function(),
    "AWS::Logs::LogGroup": logs.LogGroup(),
    "AWS::Logs::QueryDefinition": logs.QueryDefinition(),
    "AWS::S3::Bucket": s3.Bucket(),
    "AWS::S3::BucketPolicy": s3.BucketPolicy(),
    "AWS::SNS::Subscription": sns.Subscription(),
    "AWS::SNS::Topic": sns.Topic(),
    "AWS::SNS::TopicPolicy": sns.TopicPolicy(),
    "AWS::SSM::Parameter": moto_types.Parameter(),
    "AWS::SageMaker::Endpoint": sagemaker.Endpoint(),
    "AWS::SageMaker::EndpointConfig": sagemaker.EndpointConfig(),
    "AWS::SageMaker::Model": sagemaker.Model(),
    **dict.fromkeys(NULL_MODELS, resource.NoEffect()),
}


def recreates(before: Declaration, declared: Declaration) -> bool:
    """Whether a change makes another resource: by what the type does, or by CloudFormation's schema."""
    replaces = hosted_type(declared.type).replaces(before, declared)
    return replaces or not declared.changed(before).isdisjoint(create_only(declared.type))


def hosted_type(name: str) -> ResourceType:
    """The type, from ours, else from moto's, else one that only records that it was skipped."""
    if name in _OURS:
        return _OURS[name]
    if name.startswith("Custom::"):
        return CustomResource()
    model = get_model_map().get(name)
    return resource.UnhostedType() if model is None else MotoType(model)


REGION = "us-east-1"


@cache
def create_only(resource_type: str) -> frozenset[str]:
    """The properties whose change replaces a resource; none of a type that has no schema."""
    name = _files().get(resource_type)
    if name is None:
        return frozenset()
    schema = json.loads((files("cfnlint.data.schemas") / "resources" / f"{name}.json").read_text())
    return frozenset(path.split("/")[2] for path in schema.get("createOnlyProperties", ()))


@cache
def _files() -> dict[str, str]:
    found = files("cfnlint.data.schemas") / "providers" / f"{REGION}.json"
    return dict(json.loads(found.read_text()))
