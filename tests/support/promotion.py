"""Environments of two accounts, each with an embedded AWS, and an endpoint that was tested in one of them."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from botocore.exceptions import ClientError

from tests.support.embedded_keys import KEYS
from tests.support.fleet_folder import FleetFolder
from tests.support.second_aws import ACCOUNT
from tests.support.silent_progress import SilentProgress
from triton_fleet.awsapi.emulator import local_session
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import open_project
from triton_fleet.spec.endpoint import Compression, Mode
from triton_fleet.spec.lock import Lock
from triton_fleet.store.lock import write_locks
from triton_fleet.store.progress import PublishProgress
from triton_fleet.store.promote.promote import PromotionResult, PromotionSide, Templates, promote
from triton_fleet.store.promote.spec import target_for
from triton_fleet.store.publish.publish import publish

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_sagemaker.client import SageMakerClient

PLACES = {
    "staging": ("123456789012", "us-east-1"),
    "qa": ("123456789012", "eu-west-1"),
    "prod": (ACCOUNT, "us-west-2"),
}
ENDPOINT = "sentences"


@cache
def _s3(url: str, region: str) -> S3Client:
    return local_session(region, KEYS).client("s3", endpoint_url=url)


@cache
def _sagemaker(url: str, region: str) -> SageMakerClient:
    return local_session(region, KEYS).client("sagemaker", endpoint_url=url)


@cache
def _ecr(url: str, region: str) -> Any:
    return local_session(region, KEYS).client("ecr", endpoint_url=url)


@dataclass(frozen=True)
class Promotion:
    """A fleet whose `staging` and `qa` are in one account and `prod` in another; `urls` by account."""

    folder: FleetFolder
    urls: dict[str, str]

    def prepare(self) -> None:
        """Write the environments, and make their buckets, empty."""
        for name, (account, region) in PLACES.items():
            text = f'environment: {name}\naccount: "{account}"\nregion: {region}\n'
            self.folder.write(f"environments/{name}.yaml", text)
            s3: Any = self.s3(name)
            with suppress(ClientError):
                location = {} if region == "us-east-1" else {"LocationConstraint": region}
                s3.create_bucket(
                    Bucket=self.bucket(name), **({"CreateBucketConfiguration": location} if location else {})
                )
            for key in self.keys(name):
                s3.delete_object(Bucket=self.bucket(name), Key=key)
        with suppress(ClientError):
            self.sagemaker.delete_endpoint(EndpointName=ENDPOINT)

    def s3(self, environment: str) -> S3Client:
        """The same client each time: making one takes longer than what most tests do with it."""
        account, region = PLACES[environment]
        return _s3(self.urls[account], region)

    def another_s3(self, environment: str) -> S3Client:
        """A client of one's own."""
        account, region = PLACES[environment]
        return _s3.__wrapped__(self.urls[account], region)

    def ecr(self, environment: str) -> Any:
        """The client of the registry."""
        account, region = PLACES[environment]
        return _ecr(self.urls[account], region)

    def another_ecr(self, environment: str) -> Any:
        """A client of one's own."""
        account, region = PLACES[environment]
        return _ecr.__wrapped__(self.urls[account], region)

    @property
    def sagemaker(self) -> SageMakerClient:
        account, region = PLACES["staging"]
        return _sagemaker(self.urls[account], region)

    @staticmethod
    def bucket(environment: str) -> str:
        account, region = PLACES[environment]
        return f"triton-fleet-{environment}-{account}-{region}"

    def keys(self, environment: str, prefix: str = "") -> list[str]:
        pages = self.s3(environment).get_paginator("list_objects_v2")
        actual_pages = pages.paginate(Bucket=self.bucket(environment), Prefix=prefix)
        return [entry["Key"] for page in actual_pages for entry in page.get("Contents", [])]

    def lock(self, environment: str) -> Lock:
        return load_lock(self.folder.root / f"locks/{environment}/{ENDPOINT}.lock.yaml")

    def publish(self, registry: Any = None) -> ResolvedEndpoint:
        """Lock and publish what the spec says in `staging`; `registry` stands in for its ECR."""
        ecr = lambda: registry or self.ecr("staging")  # noqa: E731
        write_locks(open_project(self.folder.root, "staging"), lambda: self.s3("staging"), ecr)
        project = open_project(self.folder.root, "staging")
        (endpoint,) = resolve_project(project).endpoints
        publish(self.s3("staging"), project, [endpoint], SilentProgress(), ecr=ecr)
        return endpoint

    def test(self, registry: Any = None) -> ResolvedEndpoint:
        """Publish it and serve it in `staging`; then the repository is gone."""
        endpoint = self.publish(registry)
        self.serve(endpoint)
        shutil.rmtree(self.folder.root / "repository")
        return endpoint

    def serve(self, endpoint: ResolvedEndpoint) -> None:
        """The declarations of the endpoint's stack, made anew."""
        sagemaker, suffix = self.sagemaker, endpoint.archives[0].digest[-8:]
        source: Any = {"S3DataSource": {"S3Uri": endpoint.model_data_url, "S3DataType": "S3Prefix"}}
        source["S3DataSource"]["CompressionType"] = "None"
        as_files = endpoint.compression is Compression.NONE
        container: Any = {
            "Image": endpoint.image.uri,
            "Mode": "SingleModel" if endpoint.spec.mode is Mode.SINGLE else "MultiModel",
            **({"ModelDataSource": source} if as_files else {"ModelDataUrl": endpoint.model_data_url}),
        }
        with suppress(ClientError):
            sagemaker.delete_model(ModelName=f"model-{suffix}")
        with suppress(ClientError):
            sagemaker.delete_endpoint_config(EndpointConfigName=f"config-{suffix}")
        role = "arn:aws:iam::123456789012:role/any"
        sagemaker.create_model(ModelName=f"model-{suffix}", ExecutionRoleArn=role, PrimaryContainer=container)
        variant: Any = {
            "VariantName": "AllTraffic",
            "ModelName": f"model-{suffix}",
            "InstanceType": endpoint.spec.instance.type,
            "InitialInstanceCount": 1,
        }
        sagemaker.create_endpoint_config(EndpointConfigName=f"config-{suffix}", ProductionVariants=[variant])
        sagemaker.create_endpoint(EndpointName=ENDPOINT, EndpointConfigName=f"config-{suffix}")

    def promote(
        self,
        to: str = "prod",
        progress: PublishProgress | None = None,
        *,
        target_s3: S3Client | None = None,
        target_ecr: Any = None,
        endpoints: Sequence[str] = (ENDPOINT,),
        templates: Templates | None = None,
    ) -> PromotionResult:
        """From `staging`."""
        root = self.folder.root
        source = PromotionSide(
            project=open_project(root, "staging", endpoints),
            s3=self.s3("staging"),
            sagemaker=self.sagemaker,
            ecr=self.ecr("staging"),
        )
        target = PromotionSide(
            project=target_for(open_project(root, to), endpoints),
            s3=self.s3(to) if target_s3 is None else target_s3,
            ecr=self.ecr(to) if target_ecr is None else target_ecr,
            sagemaker=self.sagemaker,
        )
        return promote(source, target, SilentProgress() if progress is None else progress, templates)
