"""An endpoint with everything decided: what the constructs declare, nothing left to choose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from triton_fleet.catalog.images import Image
from triton_fleet.catalog.instances import Instance
from triton_fleet.context.alarms import Alarm
from triton_fleet.context.metrics import TritonMetrics, kinds
from triton_fleet.context.registries import Repository
from triton_fleet.endpoint.bucket_keys import capture_prefix_of, prefix_of
from triton_fleet.endpoint.endpoint_parts import (
    ResolvedCheck,
    ResolvedEngine,
    ResolvedRollout,
    ResolvedScaling,
)
from triton_fleet.findings import Finding
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.endpoint import S3, Compression, EndpointSpec, PackedArchive

VARIANT = "AllTraffic"
"""The one production variant; a scaled variant's name never changes."""


@dataclass(frozen=True, kw_only=True)
class Artifact:
    """A packed model repository: which archive of the spec, its content, and its key in the bucket.

    `named_by_content`: the key follows from the content, so an object with that key is the archive.
    Without compression the key is a prefix, which ends in a slash. `repository` is the digest of the tar
    stream without the engines, whose size `size` is; None where there are none.
    """

    source: PackedArchive
    digest: str
    size: int
    repository: str | None
    key: str
    named_by_content: bool
    compression: Compression

    @property
    def archive(self) -> str:
        """The archive's name."""
        return self.source.name


@dataclass(frozen=True)
class GivenData:
    """Model data that somebody else keeps: its address in S3, and the ARN of the key of its objects.

    `path` and `bucket_name` are of an address that only the deploy knows: without `s3://`, and the bucket;
    `key_pattern` is the pattern of its keys, if that is known.
    """

    url: str
    kms_key: str | None = None
    path: str | None = None
    bucket_name: str | None = None
    key_pattern: str | None = None

    @property
    def bucket(self) -> str:
        """The bucket's name."""
        return self.bucket_name or self.url.removeprefix(S3).partition("/")[0]

    @property
    def objects(self) -> str:
        """The bucket and the key of the one object, or of all below a prefix as a pattern of policies."""
        return self.path or f"{self.bucket}/{self.keys}"

    @property
    def keys(self) -> str | None:
        """The key of the one object, or the pattern of keys; None where only the deploy knows it."""
        if self.path is not None:
            return self.key_pattern
        key = self.url.removeprefix(S3).partition("/")[2]
        return f"{key}*" if not key or key.endswith("/") else key


@dataclass(frozen=True, kw_only=True)
class ResolvedEndpoint:
    """One endpoint in one environment.

    `spec` is the endpoint's own with the environment's defaults and overrides: a key that decides nothing
    else is read there. `ami` is None for SageMaker's own choice of a host image. `is_pooled`: raw
    InstancePools replace the variant's instance type. `variables` is the container's environment.
    `model_data` is a key of the bucket: of the one archive, or the prefix of all in mode `multi-model`, which
    has no default model; without `compression`, the prefix of the one repository's files. `volume_key` is the
    key of the instances' volumes, None for AWS's own or where they have none. The environment's and ours are
    among the `tags`. `counted_models` is what Triton's metrics call the models, as far as a deploy decides
    it. `engines` are built before the archives are packed. `repositories` are what the role may pull from:
    the image's, and that of an image which the spec names instead. `engine_image` is what engines are built
    in. With `given_data` there are no `archives`,
    and `model_data` is empty.
    """

    spec: EndpointSpec
    deployment: Deployment
    image: Image
    engine_image: Image
    repositories: tuple[Repository, ...]
    instance: Instance
    ami: str | None
    is_pooled: bool
    default_model: str | None
    archives: tuple[Artifact, ...]
    model_data: str
    compression: Compression
    variables: Mapping[str, str]
    scaling: ResolvedScaling | None
    rollout: ResolvedRollout | None
    alarms: tuple[Alarm, ...]
    check: ResolvedCheck
    triton_metrics: TritonMetrics | None
    log_groups: tuple[str, ...]
    volume_key: str | None
    tags: Mapping[str, str]
    counted_models: tuple[str, ...]
    engines: tuple[ResolvedEngine, ...] = ()
    variant: str = VARIANT
    given_data: GivenData | None = None

    @property
    def name(self) -> str:
        """The fixed, public name."""
        return self.spec.endpoint

    @property
    def topic_owner(self) -> str | None:
        """The owner whose topics its alarms notify; None for those of the whole environment."""
        owner = self.spec.owner
        return owner.team if owner and owner.team in self.deployment.owner_notifications else None

    @property
    def kinds(self) -> frozenset[str]:
        """The groups of metrics that apply to it."""
        return kinds(self.spec.mode, self.instance)

    @property
    def model_data_url(self) -> str:
        """The address of the Model's data."""
        return self.given_data.url if self.given_data else f"{S3}{self.deployment.bucket}/{self.model_data}"

    @property
    def readable_data(self) -> tuple[str, str, str | None]:
        """The data that the container reads: a bucket's ARN, that of objects, and a pattern of their keys."""
        bucket, model_data = self.deployment.bucket_arn, self.given_data
        if model_data is None:
            return bucket, f"{bucket}/{self.prefix}*", f"{self.prefix}*"
        service = f"arn:{self.deployment.partition.name}:s3:::"
        return f"{service}{model_data.bucket}", f"{service}{model_data.objects}", model_data.keys

    @property
    def prefix(self) -> str:
        """The prefix of the endpoint's archives in the bucket, those of earlier deploys as well."""
        return prefix_of(self.name)

    @property
    def capture_prefix(self) -> str:
        """The prefix of captured calls in the bucket."""
        return capture_prefix_of(self.name)

    @property
    def rollback_alarm_prefix(self) -> str:
        """The prefix of the names of all alarms that roll its updates back, and of no others."""
        return f"TritonFleet/{self.name}/rollback/"

    @property
    def is_cleaned_up(self) -> bool:
        """Whether SageMaker deletes network interfaces or key grants after the endpoint, with its role.

        Source: SageMaker API reference, DeleteEndpoint.
        """
        raw_key = "KmsKeyId" in self.spec.cloudformation.get("EndpointConfig", {})
        return bool(self.spec.network.subnets) or self.volume_key is not None or raw_key

    @property
    def stack(self) -> str:
        """The name of the endpoint's own stack."""
        return stack_of(self.deployment, self.name)


def stack_of(deployment: Deployment, endpoint: str) -> str:
    """The name of an endpoint's own stack."""
    return f"{deployment.stack}-{endpoint}"


@dataclass(frozen=True, kw_only=True)
class ResolvedFleet:
    """One environment and its endpoints, by name; `warnings` is what is doubtful about them."""

    deployment: Deployment
    endpoints: tuple[ResolvedEndpoint, ...]
    warnings: tuple[Finding, ...] = ()
