"""The contract of `environments/*.yaml`: where a fleet is deployed and what differs there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import (
    Field,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
    field_validator,
)

from triton_fleet.spec.access import Access, BoundaryArn, Invoker, KeyArn, RoleArn, elsewhere
from triton_fleet.spec.contacts import BY_HAND, Notifications, OwnerNotifications, protocol
from triton_fleet.spec.container import NetworkId
from triton_fleet.spec.engine import EngineBuilds
from triton_fleet.spec.profile import EnvironmentName
from triton_fleet.spec.values import Bytes, Document, Mistake, TagKey, Tags, fits

LOCAL = "local"
"""The environment of the embedded AWS on this machine."""
ENVIRONMENT_TAG = "triton-fleet:environment"
"""The tag that holds a statement to the endpoints of one environment; no other may set it."""
_RUNBOOK = re.compile(r"https://[^\s#]+#?")


def deploy_command(environment: str, endpoint: str = "", *options: str) -> str:
    """The command that deploys an endpoint, in backquotes; without a name, all of them."""
    words = ["fleet", "local", "up", endpoint] if environment == LOCAL else []
    words = words or ["fleet", "deploy", "--env", environment, *options, endpoint]
    return f"`{' '.join(filter(None, words))}`"


Page = Annotated[
    str,
    Field(max_length=400),
    fits(
        _RUNBOOK,
        "alarms cannot link to it",
        "write an address that begins with https://, without spaces and without a section"
        " (`#...`): each alarm adds its own",
    ),
    WithJsonSchema({"type": "string", "pattern": f"^{_RUNBOOK.pattern}$", "maxLength": 400}),
]
"""The address of a page, to which a section is added."""


_REGISTRY = re.compile(
    r"[0-9]{12}|[a-z0-9-]+(\.[a-z0-9-]+)*(\.[a-z0-9-]+|:[0-9]+)(/[a-z0-9]+([._-]+[a-z0-9]+)*)*"
)


Registry = Annotated[
    str,
    fits(
        _REGISTRY,
        "it is neither an AWS account nor the host of a registry, with a path or without",
        'write the account whose ECR it is, `"444455556666"`, a host, `registry.example.com`, or a'
        " host with a path, `docker.io/library`",
    ),
    WithJsonSchema({"type": "string", "pattern": f"^({_REGISTRY.pattern})$"}),
]
"""An AWS account, the host of a registry, or a host with the path of repositories."""


BucketName = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$")]
"""Source: S3 user guide, bucketnamingrules.html."""


S3Prefix = Annotated[
    str,
    StringConstraints(
        pattern=r"^s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9!_.*'()/-]*)?$", max_length=512
    ),
]
"""A bucket, or a prefix in one; its length is that of a core dump's destination in the API of SageMaker."""


EndpointGlob = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9*?][A-Za-z0-9*?-]*$", max_length=100)]
"""An endpoint's name, or a pattern in which `*` stands for any text and `?` for one character."""


class LocalLimits(Document):
    """Limits of each multi-model endpoint on this machine; beyond them, models are evicted."""

    model_memory: Bytes | None = None
    """Memory for loaded models; default: until Triton runs out of memory."""
    model_disk: Bytes | None = None
    """Disk space for unpacked models; default: until the disk is full."""


class Environment(Document):
    """One account and region, with what its endpoints have in common."""

    environment: EnvironmentName
    """Name, as in `-c env=NAME`, the same as the file's. No hyphens: they separate the parts of stack
    names."""
    account: Annotated[str, StringConstraints(pattern=r"^[0-9]{12}$")]
    """AWS account, in quotes."""
    region: Annotated[str, StringConstraints(pattern=r"^[a-z]{2}(-[a-z]+)+-[0-9]$")]
    """AWS region."""
    tags: Tags = Field(default_factory=dict)
    """Tags of all deployed resources."""
    kms_key: KeyArn | None = None
    """ARN of a symmetric KMS key of this account and region: for the artifact bucket, captured data, log
    groups, and the volumes of instances without local storage. Default: AWS's own keys."""
    artifact_bucket: BucketName | None = None
    """Name of an existing bucket in this region for archives, engines, captured calls and saved scaling. The
    product does not configure it, and no other environment may use it. Default: Foundation has one."""
    permissions_boundary: BoundaryArn | None = None
    """ARN of the IAM policy that limits every deployed role; default: none."""
    allowed_roles: Annotated[tuple[RoleArn, ...], Field(strict=False)] = ()
    """ARNs of roles of this account that a spec may give its endpoint as a raw `ExecutionRoleArn`, in place
    of the role that the product creates; `permissions_boundary` does not limit them."""
    allowed_registries: Annotated[tuple[Registry, ...], Field(strict=False)] = ()
    """AWS accounts, in quotes, and hosts of other registries whose images a spec may name, and which the
    Dockerfile of an image may read from; with a path, `docker.io/library`, a Dockerfile may read from what is
    below it. SageMaker's own Triton images and, in a Dockerfile, NVIDIA's are always allowed."""
    allowed_invokers: Annotated[tuple[Invoker, ...], Field(strict=False)] | None = None
    """AWS accounts, in quotes, and ARNs of roles that specs may name in `access.invokers`; default: all roles
    of this account."""
    allowed_networks: Annotated[tuple[NetworkId, ...], Field(strict=False)] = ()
    """Subnets and security groups that specs may name in `network`, beside those that this file's own
    `defaults` and `overrides` name."""
    protected_tags: Annotated[tuple[TagKey, ...], Field(strict=False)] = ()
    """Keys of tags to which only this file may give values, because permissions depend on them."""
    shell_access: bool = False
    """Let specs switch on EnableSSMAccess: a shell in the container, through AWS Systems Manager."""
    allowed_core_dumps: Annotated[tuple[S3Prefix, ...], Field(strict=False)] = ()
    """Prefixes in S3, `s3://BUCKET/PREFIX`, below which specs may have core dumps written."""
    access: Access = Access()
    promoted_from: EnvironmentName | None = None
    """The environment that `fleet promote` copies endpoints from, each with its tested spec beside its lock.
    Default: the environment follows the specs, profiles and repositories as they are."""
    endpoints: Annotated[tuple[EndpointGlob, ...], Field(strict=False)] | None = None
    """Names and globs, such as `search-*`, of the endpoints that the environment has; default: all whose
    `environments` allow it."""
    defaults: dict[str, object] = Field(default_factory=dict)
    """Keys of a spec that apply where a spec does not set them."""
    overrides: dict[str, dict[str, object]] = Field(default_factory=dict)
    """By endpoint: keys that replace the spec's own here."""
    notifications: Notifications = Notifications()
    """Who is notified of alarms, by severity."""
    runbook: Page | None = None
    """Web address of your copy of docs/runbook.md, for links to its sections; default: the file's path."""
    dashboards: bool = True
    """Give each endpoint a CloudWatch dashboard, which costs 3 USD per month."""
    termination_protection: bool = False
    """Protect the endpoints' stacks against deletion: `fleet destroy`, the console and the AWS CLI refuse it
    until a deploy without this key. Foundation's stack is always protected."""
    engine_builds: EngineBuilds = EngineBuilds()
    """Where and how TensorRT engines are built."""
    local: LocalLimits | None = None
    """Limits of the local endpoints; only in `environments/local.yaml`."""

    @property
    def file(self) -> str:
        """The path of its file in a fleet."""
        return f"environments/{self.environment}.yaml"

    @property
    def resource_tags(self) -> dict[str, str]:
        """The tags of everything that is deployed for it."""
        return {**self.tags, ENVIRONMENT_TAG: self.environment}

    @property
    def allowed_accounts(self) -> tuple[str, ...]:
        """The accounts whose images its builds may read, in its region: never its own."""
        accounts = {
            allowed_registry for allowed_registry in self.allowed_registries if allowed_registry.isdigit()
        }
        return tuple(sorted(accounts - {self.account}))

    @property
    def is_local(self) -> bool:
        """Whether it is the embedded AWS of this machine, where nobody gets access to anything."""
        return self.environment == LOCAL

    def own_values(self, endpoint: str, *path: str) -> Iterator[object]:
        """Values of its own file at a path of a spec, in `defaults` and in the endpoint's `overrides`."""
        for layer in (self.defaults, self.overrides.get(endpoint)):
            value: object = layer
            for key in path:
                value = value.get(key) if isinstance(value, dict) else None
            if value is not None:
                yield value

    def allowance_hint(self, key: str) -> str:
        """The hint for a value that only a key of this environment may allow."""
        return f"leave it out, or add it to `{key}` in {self.file}: a spec cannot `allow` it"

    def lock_command(self, endpoint: str) -> str:
        """The command that writes an endpoint's lock here, in backquotes."""
        command = f"fleet lock --env {self.environment}"
        if self.promoted_from is not None:
            command = f"fleet promote --from {self.promoted_from} --to {self.environment}"
        return f"`{command} {endpoint}`"

    @field_validator("local")
    @classmethod
    def _is_of_this_machine(cls, local: LocalLimits | None, info: ValidationInfo) -> LocalLimits | None:
        if local is not None and info.data.get("environment", LOCAL) != LOCAL:
            raise ValueError("`local` limits this machine: it belongs only in environments/local.yaml")
        return local

    @field_validator("promoted_from", "endpoints")
    @classmethod
    def _has_every_endpoint_here(cls, value: object, info: ValidationInfo) -> object:
        if value is not None and info.data.get("environment") == LOCAL:
            raise ValueError("on this machine there is every endpoint of main: leave the key out")
        return value

    @field_validator("artifact_bucket")
    @classmethod
    def _is_not_of_this_machine(cls, bucket: str | None, info: ValidationInfo) -> str | None:
        if bucket is not None and info.data.get("environment") == LOCAL:
            raise ValueError(
                "the embedded AWS begins empty: `artifact_bucket` cannot be in environments/local.yaml"
            )
        return bucket

    @field_validator("access")
    @classmethod
    def _is_of_an_account(cls, access: Access, info: ValidationInfo) -> Access:
        for key, jobs in (("github", access.github), ("gitlab", access.gitlab)):
            if jobs is None:
                continue
            if info.data.get("environment") == LOCAL:
                hint = "leave `access` out: whoever starts the embedded AWS has its credentials"
                raise Mistake("no repository deploys to this machine", hint, (key,))
            if jobs.provider and (problem := elsewhere(jobs.provider, info.data)):
                raise Mistake(problem, "a role trusts only its own account's providers", (key, "provider"))
        return access

    @field_validator("kms_key", "permissions_boundary")
    @classmethod
    def _is_of_this_account(cls, arn: str | None, info: ValidationInfo) -> str | None:
        if arn is not None and (problem := elsewhere(arn, info.data)):
            raise ValueError(problem)
        return arn

    @field_validator("allowed_roles")
    @classmethod
    def _are_roles_of_this_account(cls, roles: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        for index, arn in enumerate(roles):
            if problem := elsewhere(arn, info.data):
                raise Mistake(problem, "SageMaker assumes only roles of its own account", (index,))
        return roles

    @field_validator("notifications")
    @classmethod
    def _are_of_this_account(cls, notifications: Notifications, info: ValidationInfo) -> Notifications:
        owners = ((("owners", team), topics) for team, topics in notifications.owners.items())
        everybody: tuple[tuple[str, ...], OwnerNotifications] = ((), notifications)
        for below, topics in (everybody, *owners):
            for severity, subscribers in topics.by_severity.items():
                for index, subscriber in enumerate(subscribers):
                    if protocol(subscriber) != "email" and (problem := elsewhere(subscriber, info.data)):
                        raise Mistake(problem, BY_HAND, (*below, severity, index))
        return notifications
