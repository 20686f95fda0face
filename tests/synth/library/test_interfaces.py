"""Roles, images, model data and interfaces: what endpoints take from the CDK, and what the CDK takes of them."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import Environment, Stack
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_ecr as ecr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sagemaker as sagemaker

from tests.support.onnx_graphs import FLOAT, graph_bytes
from tests.synth.library.host import ACCOUNT, Host, a_model, properties
from triton_endpoints import (
    TritonEndpoint,
    TritonImage,
    TritonModel,
)


class TestGivenRole:
    @pytest.mark.parametrize("kind", ["endpoint", "model"])
    def test_it_is_the_models_and_gets_what_the_container_needs(self, kind: str) -> None:
        host = Host(is_audited=False)
        host.support()
        role = iam.Role(host.stack, "Handed", assumed_by=iam.ServicePrincipal("sagemaker.amazonaws.com"))
        construct: Any = host.endpoint(role=role) if kind == "endpoint" else a_model(host, role=role)
        assert construct.role is role
        template = host.template()
        (name,) = [id for id in template.find_resources("AWS::IAM::Role") if id.startswith("Handed")]
        model = properties(template, "AWS::SageMaker::Model")
        assert model["ExecutionRoleArn"] == {"Fn::GetAtt": [name, "Arn"]}
        policies = template.find_resources("AWS::IAM::Policy", {"Properties": {"Roles": [{"Ref": name}]}})
        grants = json.dumps(list(policies.values()))
        assert all(action in grants for action in ("s3:GetObject", "ecr:BatchGetImage", "logs:PutLogEvents"))

    def test_a_role_that_is_imported_as_immutable_gets_nothing(self) -> None:
        host = Host(is_audited=False)
        host.support()
        arn = "arn:aws:iam::111122223333:role/handed-out"
        host.endpoint(role=iam.Role.from_role_arn(host.stack, "Handed", arn, mutable=False))
        template = host.template()
        assert properties(template, "AWS::SageMaker::Model")["ExecutionRoleArn"] == arn
        assert not [id for id in template.find_resources("AWS::IAM::Policy") if id.startswith("Embeddings")]
        assert not [id for id in template.find_resources("AWS::IAM::Role") if id.startswith("Embeddings")]


class TestInterfaces:
    def test_an_api_takes_the_endpoint_as_its_integration(self) -> None:
        host = Host(is_audited=False)
        host.support()
        endpoint = host.endpoint()
        api = apigateway.RestApi(host.stack, "Api")
        api.root.add_method("POST", apigateway.SagemakerIntegration(endpoint))
        template = host.template()
        uri = properties(template, "AWS::ApiGateway::Method")["Integration"]["Uri"]
        assert "EndpointName" in json.dumps(uri)
        grants = json.dumps(template.find_resources("AWS::IAM::Policy"))
        assert "sagemaker:InvokeEndpoint" in grants

    def test_references_are_arns(self) -> None:
        host = Host(is_audited=False)
        host.support()
        endpoint, model = host.endpoint(), a_model(host, endpoint_name="other")
        (name,) = host.template().find_resources("AWS::SageMaker::Endpoint")
        assert host.stack.resolve(endpoint.endpoint_ref.endpoint_arn) == {"Ref": name}
        assert "Ref" in host.stack.resolve(model.model_ref.model_arn)

    def test_the_default_child_is_the_resource_of_cloudformation(self) -> None:
        host = Host(is_audited=False)
        host.support()
        assert isinstance(host.endpoint().node.default_child, sagemaker.CfnEndpoint)
        assert isinstance(a_model(host).node.default_child, sagemaker.CfnModel)

    def test_an_endpoint_of_another_region_is_named_by_its_arn(self) -> None:
        host = Host(is_audited=False)
        arn = "arn:aws:sagemaker:eu-west-1:210987654321:endpoint/search"
        endpoint = TritonEndpoint.from_endpoint_arn(host.stack, "Search", arn)
        assert (endpoint.endpoint_name, endpoint.endpoint_arn) == ("search", arn)
        metric = endpoint.metric_invocations()
        assert (metric.region, metric.account) == ("eu-west-1", "210987654321")

    def test_a_metric_knows_its_region_on_a_dashboard_of_another(self) -> None:
        host = Host(is_audited=False)
        host.support()
        metric = host.endpoint().metric_model_latency()
        stack = Stack(host.app, "West", env=Environment(account=ACCOUNT, region="us-west-2"))
        cloudwatch.Dashboard(stack, "All", widgets=[[cloudwatch.GraphWidget(left=[metric])]])
        body = json.dumps(properties(host.template("West"), "AWS::CloudWatch::Dashboard"))
        assert "us-east-1" in body


class TestModelData:
    def test_a_folder_is_packed_checked_and_published_by_the_cdk(self, tmp_path: Path) -> None:
        host = Host(is_audited=False)
        host.support()
        host.endpoint(model=TritonModel.from_asset(a_repository(tmp_path)))
        template = host.template()
        container = properties(template, "AWS::SageMaker::Model")["PrimaryContainer"]
        assert container["Environment"]["SAGEMAKER_TRITON_DEFAULT_MODEL_NAME"] == "words"
        manifest = json.loads(Path(host.app.outdir, "Host.assets.json").read_text())
        files = [file for file in manifest["files"].values() if file["source"]["path"].endswith(".gz")]
        (destination,) = files[0]["destinations"].values()
        assert container["ModelDataUrl"].endswith(f"/{destination['objectKey']}")
        with tarfile.open(Path(host.app.outdir, files[0]["source"]["path"])) as archive:
            assert "words/config.pbtxt" in archive.getnames()
        grants = json.dumps(template.find_resources("AWS::IAM::Policy"))
        assert f"/{destination['objectKey']}" in grants

    def test_one_content_has_one_name(self, tmp_path: Path) -> None:
        urls = []
        for folder in ("first", "second"):
            host = Host(is_audited=False)
            host.support()
            host.endpoint(model=TritonModel.from_asset(a_repository(tmp_path / folder)))
            urls.append(
                properties(host.template(), "AWS::SageMaker::Model")["PrimaryContainer"]["ModelDataUrl"]
            )
        assert urls[0] == urls[1]

    def test_what_is_wrong_with_its_models_is_reported_with_all_else(self, tmp_path: Path) -> None:
        host = Host(is_audited=False)
        host.support()
        host.endpoint(
            model=TritonModel.from_asset(a_repository(tmp_path, backend="python", file="model.onnx"))
        )
        host.endpoint("Missing", model=TritonModel.from_asset(tmp_path / "absent"))
        problems = host.problems()
        assert [
            problem for problem in problems if problem.startswith("[Host/Embeddings]") and "words" in problem
        ]
        assert [
            problem for problem in problems if problem.startswith("[Host/Missing]") and "absent" in problem
        ]

    def test_an_object_of_a_bucket_comes_with_its_key(self) -> None:
        host = Host(is_audited=False)
        host.support()
        key = kms.Key(host.stack, "Key", enable_key_rotation=True)
        bucket = s3.Bucket(host.stack, "Models", encryption_key=key, enforce_ssl=True)
        host.endpoint(model=TritonModel.from_bucket(bucket, "a/model.tar.gz", default_model="embed"))
        template = host.template()
        url = properties(template, "AWS::SageMaker::Model")["PrimaryContainer"]["ModelDataUrl"]
        assert json.dumps(url).endswith('"/a/model.tar.gz"]]}')
        assert "kms:Decrypt" in json.dumps(template.find_resources("AWS::IAM::Policy"))


def a_repository(folder: Path, *, backend: str = "onnxruntime", file: str = "model.onnx") -> Path:
    version = folder / "words" / "1"
    version.mkdir(parents=True)
    (version / file).write_bytes(graph_bytes({"x": (FLOAT, [1])}, {"y": (FLOAT, [1])}))
    config = f'backend: "{backend}"\ninput {{ name: "x" data_type: TYPE_FP32 dims: 1 }}\n'
    (folder / "words" / "config.pbtxt").write_text(
        config + 'output { name: "y" data_type: TYPE_FP32 dims: 1 }\n'
    )
    return folder


class TestImage:
    @pytest.mark.parametrize("kind", ["endpoint", "model"])
    def test_one_of_a_repository_is_pulled_with_the_permission_for_it(self, kind: str) -> None:
        host = Host(is_audited=False)
        host.support(image_builds=False)
        repository = ecr.Repository(host.stack, "Images")
        image = TritonImage.from_ecr_repository(repository, "2.1")
        construct: Any = host.endpoint(image=image) if kind == "endpoint" else a_model(host, image=image)
        assert construct.node.default_child is not None
        template = host.template()
        (name,) = template.find_resources("AWS::ECR::Repository")
        model = properties(template, "AWS::SageMaker::Model")
        uri = json.dumps(model["PrimaryContainer"]["Image"])
        assert name in uri and '":2.1"' in uri
        pulls = [
            statement["Resource"]
            for id, policy in template.find_resources("AWS::IAM::Policy").items()
            if id.startswith(construct.node.id)
            for statement in policy["Properties"]["PolicyDocument"]["Statement"]
            if "ecr:BatchGetImage" in statement["Action"]
        ]
        assert pulls == [{"Fn::GetAtt": [name, "Arn"]}]

    def test_one_that_the_app_builds_is_an_asset_for_the_gpus_hosts(self, tmp_path: Path) -> None:
        (tmp_path / "Dockerfile").write_text("FROM nvcr.io/nvidia/tritonserver:25.04-py3\n")
        host = Host(is_audited=False)
        host.support()
        host.endpoint(image=TritonImage.from_asset(tmp_path))
        host.app.synth()
        (image,) = json.loads(Path(host.app.outdir, "Host.assets.json").read_text())["dockerImages"].values()
        assert image["source"]["platform"] == "linux/amd64"
