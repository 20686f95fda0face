"""Where the fleet of an environment is deployed, and the names that follow from its file."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Self

from triton_fleet.catalog.images import Partition, partition_of, registry_host
from triton_fleet.spec.alarms import AlarmSeverity
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.trusts import AccessRole, Trust, access_role, trusts_of

BuildKind = Literal["job", "image"]
"""A CodeBuild project: of jobs that build engines, of images."""


@dataclass(frozen=True)
class GivenBucket:
    """A bucket of somebody else's in place of the environment's own; `kms_key` is the ARN of its key."""

    name: str
    kms_key: str | None = None


@dataclass(frozen=True, kw_only=True)
class Deployment:
    """Where a fleet lives: one environment's account and region, and the names that follow from them.

    Ours are among the `tags`. `kms_key` is None for AWS's own keys, `permissions_boundary` without one.
    `notifications` is who hears of alarms: email addresses and ARNs; `owner_notifications` is the same for
    owners with topics of their own.
    `dashboards` is whether its endpoints have one each, and `termination_protection` whether their stacks are
    protected against deletion. `build_seconds` is how long the build of an engine or
    an image may take, `builds_in_own_images` whether an image of a spec may build engines. `given_bucket` is
    None for the bucket whose name follows from the environment. `access` is which jobs take on its roles.
    `allowed_accounts` are others whose images its builds of images may read.
    """

    environment: str
    account: str
    region: str
    partition: Partition
    tags: Mapping[str, str]
    kms_key: str | None = None
    permissions_boundary: str | None = None
    notifications: Mapping[AlarmSeverity, tuple[str, ...]] = field(default_factory=dict)
    owner_notifications: Mapping[str, Mapping[AlarmSeverity, tuple[str, ...]]] = field(default_factory=dict)
    dashboards: bool = True
    termination_protection: bool = False
    build_seconds: int = 3600
    builds_in_own_images: bool = False
    given_bucket: GivenBucket | None = None
    access: tuple[Trust, ...] = ()
    allowed_accounts: tuple[str, ...] = ()

    @classmethod
    def of(cls, environment: Environment) -> Self:
        """The deployment of an environment's fleet."""
        builds, bucket = environment.engine_builds, environment.artifact_bucket
        return cls(
            environment=environment.environment,
            account=environment.account,
            region=environment.region,
            partition=partition_of(environment.region),
            tags=environment.resource_tags,
            kms_key=environment.kms_key,
            permissions_boundary=environment.permissions_boundary,
            notifications=environment.notifications.by_severity,
            owner_notifications={
                team: topics.by_severity for team, topics in environment.notifications.owners.items()
            },
            dashboards=environment.dashboards,
            termination_protection=environment.termination_protection,
            build_seconds=builds.timeout,
            builds_in_own_images=builds.own_images,
            given_bucket=GivenBucket(bucket, environment.kms_key) if bucket else None,
            access=trusts_of(environment),
            allowed_accounts=environment.allowed_accounts,
        )

    @property
    def bucket(self) -> str:
        """The artifact bucket's name."""
        if self.given_bucket:
            return self.given_bucket.name
        return bucket_of(self.environment, self.account, self.region)

    @property
    def bucket_key(self) -> str | None:
        """The ARN of the key that encrypts the artifact bucket; None for S3's own."""
        return self.given_bucket.kms_key if self.given_bucket else self.kms_key

    @property
    def bucket_arn(self) -> str:
        """The artifact bucket's ARN."""
        return f"arn:{self.partition.name}:s3:::{self.bucket}"

    @property
    def stack(self) -> str:
        """The Foundation stack's name; no endpoint's stack can have it, as environments have no hyphen."""
        return f"triton-fleet-{self.environment}"

    def access_role(self, role: AccessRole) -> str:
        """The name of a role of `access`."""
        return access_role(self.environment, self.region, role)

    def alarm_topic(self, severity: AlarmSeverity, owner: str | None = None) -> str:
        """The parameter of the parameter store with the ARN of a severity's topic."""
        name = severity if owner is None else f"{owner}/{severity}"
        return f"/triton-fleet/{self.environment}/alarm-topic/{name}"

    def build_project(self, project: BuildKind) -> str:
        """The CodeBuild project of jobs that build engines, or of images."""
        return f"{self.stack}-images" if project == "image" else f"{self.stack}-engines-{project}"

    @property
    def image_repository(self) -> str:
        """The repository of ECR with the images that are built."""
        return repository_of(self.environment, self.kms_key)

    @property
    def image_registry(self) -> str:
        """The host of the registry that has it."""
        return registry_host(self.account, self.region)

    @property
    def image_log_group(self) -> str:
        """The log group of builds of images."""
        return f"/triton-fleet/{self.environment}/images"

    @property
    def engine_log_group(self) -> str:
        """The log group of both projects."""
        return f"/triton-fleet/{self.environment}/engines"

    @property
    def engine_job_role(self) -> str:
        """The parameter of the parameter store with the ARN of the role of SageMaker's jobs."""
        return f"/triton-fleet/{self.environment}/engine-job-role"

    def build_failures(self, noun: str) -> str:
        """The EventBridge rule that reports failed builds of an `engine` or an `image`."""
        return f"{self.stack}-{noun}-failures"

    def arn(self, service: str, resource: str, *, account: str = "") -> str:
        """The ARN of a resource in the region, of this account unless another is named."""
        return f"arn:{self.partition.name}:{service}:{self.region}:{account or self.account}:{resource}"


def bucket_of(environment: str, account: str, region: str) -> str:
    """The name of an environment's own artifact bucket."""
    return f"triton-fleet-{environment}-{account}-{region}"


def repository_of(environment: str, kms_key: str | None) -> str:
    """The repository of ECR with the images that an environment builds.

    Its name follows from the key too: the encryption of a repository never changes, so CloudFormation has to
    make another one, which needs another name.
    """
    suffix = "" if kms_key is None else f"-{hashlib.sha256(kms_key.encode()).hexdigest()[:8]}"
    return f"triton-fleet-{environment}{suffix}"
