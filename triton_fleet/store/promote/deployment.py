"""Checks that an environment runs what its lock records: only then was the lock tested."""

from __future__ import annotations

from typing import TYPE_CHECKING

from triton_fleet.awsapi.describe import described_endpoint
from triton_fleet.core.parallel import all_in_parallel
from triton_fleet.endpoint.resolved_endpoint import Artifact, ResolvedEndpoint
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.store.content_store import digest_of
from triton_fleet.store.ownership import Owners, contents_to_own

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client
    from mypy_boto3_sagemaker.client import SageMakerClient
    from mypy_boto3_sagemaker.type_defs import (
        ContainerDefinitionOutputTypeDef,
        ProductionVariantOutputTypeDef,
    )

CODE = "FL332"
HEADS = 16
"""Parallel requests for objects."""
IN_SERVICE = "InService"


def require_deployment(s3: S3Client, sagemaker: SageMakerClient, endpoint: ResolvedEndpoint) -> None:
    """Check that the endpoint is in service with data, image and instance type of its files, and owns them.

    The URL of that data contains environment, account, region and the digests of all archives; a live set's
    does not, so its archives are checked one by one. What CloudFormation alone has deployed may be another
    endpoint's: only a publish proves whose it is.

    Raises:
        FindingsError: it is not deployed, not in service, runs something else, or something of another one.
    """
    variant = _variant(sagemaker, endpoint)
    container = sagemaker.describe_model(ModelName=variant["ModelName"])["PrimaryContainer"]
    wanted = [(_model_data(container), endpoint.model_data_url, "a model without data")]
    if not endpoint.is_pooled:
        wanted.append((variant.get("InstanceType", ""), endpoint.instance.type, "no instance type"))
    if endpoint.image.is_own:
        wanted.append((container.get("Image", ""), endpoint.image.uri, "a model without an image"))
    for running, required, nothing in wanted:
        if running != required:
            message = f"it runs {running or nothing}, but its files require {required}"
            raise FindingsError([_test_finding(endpoint, message)])
    others = [archive for archive in endpoint.archives if not archive.named_by_content]
    wrong = [
        found
        for found in all_in_parallel(others, lambda each: _absence_finding(s3, endpoint, each), HEADS)
        if found
    ]
    if wrong:
        raise FindingsError(wrong)
    contents = contents_to_own(endpoint)
    unproved = sorted(
        set(contents) - Owners(s3, endpoint.deployment.bucket).known_digests(endpoint.name, contents)
    )
    if unproved:
        environment = endpoint.deployment.environment
        message = f"no publish in {environment} has proved that {', '.join(unproved)} is its own"
        raise FindingsError([_test_finding(endpoint, message)])


def _variant(sagemaker: SageMakerClient, endpoint: ResolvedEndpoint) -> ProductionVariantOutputTypeDef:
    found = described_endpoint(sagemaker, endpoint.name)
    if found is None:
        raise FindingsError([_test_finding(endpoint, "it is not deployed there")])
    if found["EndpointStatus"] != IN_SERVICE:
        message = f"it is {found['EndpointStatus']}, not {IN_SERVICE}"
        raise FindingsError([_test_finding(endpoint, message)])
    config = sagemaker.describe_endpoint_config(EndpointConfigName=found["EndpointConfigName"])
    return config["ProductionVariants"][0]


def _model_data(container: ContainerDefinitionOutputTypeDef) -> str:
    source = container.get("ModelDataSource", {}).get("S3DataSource", {})
    return container.get("ModelDataUrl") or source.get("S3Uri", "")


def _absence_finding(s3: S3Client, endpoint: ResolvedEndpoint, archive: Artifact) -> Finding | None:
    found = digest_of(s3, endpoint.deployment.bucket, archive.key)
    if found == archive.digest:
        return None
    target = archive.key.rpartition("/")[2]
    actual = "does not exist" if found is None else f"has {found or 'no digest'}"
    return _test_finding(endpoint, f"{target} {actual}, but the lock has {archive.digest}")


def _test_finding(endpoint: ResolvedEndpoint, message: str) -> Finding:
    environment = endpoint.deployment.environment
    return Finding(
        code=CODE,
        message=f"{endpoint.name} was not tested in {environment} with its files: {message}",
        hint=f"run `fleet deploy --env {environment} {endpoint.name}`, test it, then promote",
    )
