"""A TritonEndpoint of plain props in somebody else's stack."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import Duration
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3

from tests.synth.library.host import ACCOUNT, DATA, REGION, Host, properties, statements
from triton_endpoints import Alarms, Capture, Container, Instance, Rollout, Scaling, TritonModel

FULL: dict[str, Any] = {
    "scaling": Scaling(min=1, max=4, scale_in=Duration.minutes(10))
    .scale_on_invocations(600)
    .scale_on_gpu_utilization(60)
    .scale_on_schedule("night", "cron(0 20 ? * * *)", max=1),
    "instance": Instance(type="ml.g5.xlarge", count=2),
    "rollout": Rollout(strategy="canary", canary="50%", bake=Duration.minutes(5), rollback_on=["errors"]),
    "alarms": Alarms(latency_p99={"warning": "200ms", "critical": "1s"}, memory=None),
    "capture": Capture(sample="10%"),
    "container": Container(thread_count=16),
    "container_environment": {"OMP_NUM_THREADS": "1"},
}


@pytest.fixture(scope="module")
def host() -> Host:
    host = Host()
    host.support()
    host.endpoint(**FULL)
    return host


def test_it_declares_what_a_spec_of_the_same_keys_declares(host: Host) -> None:
    template = host.template()
    for kind, count in {
        "AWS::SageMaker::Model": 1,
        "AWS::SageMaker::EndpointConfig": 1,
        "AWS::SageMaker::Endpoint": 1,
        "AWS::ApplicationAutoScaling::ScalableTarget": 1,
        "AWS::ApplicationAutoScaling::ScalingPolicy": 2,
        "AWS::CloudWatch::Dashboard": 1,
        "AWS::Logs::QueryDefinition": 2,
        "Custom::EndpointLogs": 1,
        "Custom::EndpointCheck": 1,
        "Custom::ScalingGuard": 2,
    }.items():
        template.resource_count_is(kind, count)


def test_its_model_is_what_lies_in_s3(host: Host) -> None:
    container = properties(host.template(), "AWS::SageMaker::Model")["PrimaryContainer"]
    assert container["ModelDataUrl"] == DATA
    assert container["Mode"] == "SingleModel"
    assert container["Environment"]["SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"] == "embed"
    assert container["Environment"]["SAGEMAKER_TRITON_THREAD_COUNT"] == "16"
    assert container["Environment"]["OMP_NUM_THREADS"] == "1"


def test_its_role_reads_that_object_and_no_other(host: Host) -> None:
    granted_statements = statements(host.template(), "Embeddings")
    assert granted_statements["ReadArchives"]["Resource"] == "arn:aws:s3:::their-models/embed/model.tar.gz"
    assert granted_statements["ListArchives"]["Resource"] == "arn:aws:s3:::their-models"
    assert granted_statements["ListArchives"]["Condition"]["StringLike"]["s3:prefix"] == [
        "embed/model.tar.gz"
    ]


def test_durations_of_the_cdk_are_taken(host: Host) -> None:
    template = host.template()
    policies = template.find_resources("AWS::ApplicationAutoScaling::ScalingPolicy").values()
    cooldowns = {
        policy["Properties"]["TargetTrackingScalingPolicyConfiguration"]["ScaleInCooldown"]
        for policy in policies
    }
    assert cooldowns == {600}
    deployment = properties(template, "AWS::SageMaker::Endpoint")["DeploymentConfig"]
    routing_configuration = deployment["BlueGreenUpdatePolicy"]["TrafficRoutingConfiguration"]
    assert routing_configuration["WaitIntervalInSeconds"] == 300


def test_alarms_are_those_of_its_props_with_the_defaults_of_a_spec(host: Host) -> None:
    alarms = host.template().find_resources("AWS::CloudWatch::Alarm")
    own = {id.removeprefix("EmbeddingsAlarms")[:-8] for id in alarms if id.startswith("EmbeddingsAlarms")}
    assert own == {
        "DiskWarning",
        "ErrorsCritical",
        "ErrorsWarning",
        "LatencyP99Critical",
        "LatencyP99Warning",
    }


def test_what_it_shares_is_there_before_its_custom_resources(host: Host) -> None:
    template = host.template()
    for kind, function in {
        "Custom::EndpointLogs": "SupportEndpointLogsProvider",
        "Custom::EndpointCheck": "SupportEndpointCheckProvider",
        "Custom::ScalingGuard": "SupportScalingGuardProvider",
    }.items():
        for resource in template.find_resources(kind).values():
            assert any(name.startswith(function) for name in resource["DependsOn"]), kind


def test_captured_calls_are_kept_in_the_supports_bucket(host: Host) -> None:
    config = properties(host.template(), "AWS::SageMaker::EndpointConfig")["DataCaptureConfig"]
    bucket = f"triton-fleet-prod-{ACCOUNT}-{REGION}"
    assert config["DestinationS3Uri"] == f"s3://{bucket}/capture/embeddings"
    granted_resource = statements(host.template(), "Embeddings")["KeepCapturedCalls"]["Resource"]
    assert granted_resource == f"arn:aws:s3:::{bucket}/capture/embeddings/*"


def test_a_multi_model_endpoint_reads_the_prefix_of_its_archives() -> None:
    host = Host()
    host.support()
    archives = TritonModel.multi_model("s3://their-models/zoo/", archives=["a", "b"])
    host.endpoint("Zoo", model=archives, instance=Instance(type="ml.g5.xlarge"))
    template = host.template()
    container = properties(template, "AWS::SageMaker::Model")["PrimaryContainer"]
    assert (container["Mode"], container["ModelDataUrl"]) == ("MultiModel", "s3://their-models/zoo/")
    granted_statements = statements(template, "Zoo")
    assert granted_statements["ReadArchives"]["Resource"] == "arn:aws:s3:::their-models/zoo/*"
    assert "Condition" not in granted_statements["ListArchives"]


def test_files_of_a_prefix_are_given_uncompressed() -> None:
    host = Host()
    host.support()
    host.endpoint(model=TritonModel.single("s3://their-models/embed/", default_model="embed"))
    container = properties(host.template(), "AWS::SageMaker::Model")["PrimaryContainer"]
    assert container["ModelDataSource"]["S3DataSource"]["S3Uri"] == "s3://their-models/embed/"


def test_a_bucket_and_a_key_of_the_same_stack_are_followed_by_reference() -> None:
    host = Host()
    host.support()
    key = kms.Key(host.stack, "Key", enable_key_rotation=True)
    models = s3.Bucket.from_bucket_attributes(
        host.stack, "Models", bucket_name="their-models", encryption_key=key
    )
    url = models.s3_url_for_object("a.tar.gz")
    host.endpoint(model=TritonModel.single(url, default_model="embed", encryption_key=key))
    granted_data_key = statements(host.template(), "Embeddings")["UseDataKey"]
    assert granted_data_key["Action"] == "kms:Decrypt"
    assert granted_data_key["Resource"] == {
        "Fn::GetAtt": [next(iter(host.template().find_resources("AWS::KMS::Key"))), "Arn"]
    }
    assert granted_data_key["Condition"] == {"StringEquals": {"kms:ViaService": f"s3.{REGION}.amazonaws.com"}}


def test_in_a_vpc_of_the_app_it_has_its_subnets_and_a_group_that_is_a_connection() -> None:
    host = Host()
    host.support()
    vpc = ec2.Vpc.from_vpc_attributes(
        host.stack,
        "Vpc",
        vpc_id="vpc-1",
        availability_zones=["us-east-1a", "us-east-1b"],
        private_subnet_ids=["subnet-0000000a", "subnet-0000000b"],
    )
    endpoint = host.endpoint(vpc=vpc)
    endpoint.connections.allow_to_any_ipv4(ec2.Port.tcp(443), "S3")
    template = host.template()
    network = properties(template, "AWS::SageMaker::Model")["VpcConfig"]
    (group,) = template.find_resources("AWS::EC2::SecurityGroup")
    assert network["Subnets"] == ["subnet-0000000a", "subnet-0000000b"]
    assert network["SecurityGroupIds"] == [{"Fn::GetAtt": [group, "GroupId"]}]
    arn = {
        "Fn::Join": [
            "",
            [f"arn:aws:ec2:{REGION}:{ACCOUNT}:security-group/", {"Fn::GetAtt": [group, "GroupId"]}],
        ]
    }
    assert statements(template, "Embeddings")["AttachToVpc"]["Resource"] == [
        f"arn:aws:ec2:{REGION}:{ACCOUNT}:network-interface/*",
        f"arn:aws:ec2:{REGION}:*:subnet/subnet-0000000a",
        f"arn:aws:ec2:{REGION}:*:subnet/subnet-0000000b",
        arn,
    ]


def test_a_raw_shadow_variant_follows_the_logical_id_of_the_model() -> None:
    host = Host()
    host.support()
    shadow = {
        "VariantName": "Shadow",
        "ModelName": {"Fn::GetAtt": ["Model0301700E", "ModelName"]},
        "InstanceType": "ml.g5.xlarge",
        "InferenceAmiVersion": "al2-ami-sagemaker-inference-gpu-3-1",
        "InitialInstanceCount": 1,
        "InitialVariantWeight": 1,
    }
    host.endpoint(cloudformation={"EndpointConfig": {"ShadowProductionVariants": [shadow]}})
    template = host.template()
    (model,) = template.find_resources("AWS::SageMaker::Model")
    (variant,) = properties(template, "AWS::SageMaker::EndpointConfig")["ShadowProductionVariants"]
    assert variant["ModelName"] == {"Fn::GetAtt": [model, "ModelName"]}


def test_several_endpoints_are_in_one_stack_with_one_support() -> None:
    host = Host()
    host.support()
    host.endpoint("One", dashboard=False)
    host.endpoint("Two", dashboard=True)
    template = host.template()
    names = {
        resource["Properties"]["EndpointName"]
        for resource in template.find_resources("AWS::SageMaker::Endpoint").values()
    }
    assert names == {"one", "two"}
    template.resource_count_is("AWS::CloudWatch::Dashboard", 1)
    template.resource_count_is("Custom::EndpointCheck", 2)
