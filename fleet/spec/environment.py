"""The contract of `environments/*.yaml`: where a fleet is deployed and what differs there."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints, ValidationInfo, field_validator

from fleet.catalog.images import partition_of
from fleet.spec.notifications import Notifications
from fleet.spec.tags import Tags
from fleet.spec.values import Bytes, Document

LOCAL = "local"
"""The environment of the embedded AWS on this machine."""
KEY = r"^arn:aws[a-z-]*:kms:[a-z0-9-]+:[0-9]{12}:key/[a-zA-Z0-9-]+$"
BOUNDARY = r"^arn:aws[a-z-]*:iam::([0-9]{12}|aws):policy/[\x21-\x7e]+$"


class LocalLimits(Document):
    """What each multi-model endpoint may take of this machine; past it, models are evicted."""

    model_memory: Bytes | None = None
    """Memory of the models that are loaded; left out: until Triton has none left."""
    model_disk: Bytes | None = None
    """Disk of the models that are unpacked; left out: until the disk is full."""


class Environment(Document):
    """One account and region, with what its endpoints have in common."""

    environment: Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9]{0,15}$")]
    """The name, as in `-c env=NAME`; the same as the file's. No hyphens: stack names are joined with them."""
    account: Annotated[str, StringConstraints(pattern=r"^[0-9]{12}$")]
    """AWS account, in quotes."""
    region: Annotated[str, StringConstraints(pattern=r"^[a-z]{2}(-[a-z]+)+-[0-9]$")]
    """AWS region."""
    tags: Tags = Field(default_factory=dict)
    """Tags of everything that is deployed."""
    kms_key: Annotated[str, StringConstraints(pattern=KEY)] | None = None
    """ARN of a symmetric KMS key of this account and region: for the artifact bucket, captured data, log
    groups, and the volumes of instances without storage of their own. Left out: AWS's own keys."""
    permissions_boundary: Annotated[str, StringConstraints(pattern=BOUNDARY)] | None = None
    """ARN of the IAM policy that bounds every role that is deployed; left out: none does."""
    defaults: dict[str, object] = Field(default_factory=dict)
    """Keys of an endpoint's spec that hold where the spec itself says nothing."""
    overrides: dict[str, dict[str, object]] = Field(default_factory=dict)
    """By endpoint: keys that replace the spec's own here."""
    notifications: Notifications = Notifications()
    """Who hears of alarms, by their severity."""
    runbook: Annotated[str, StringConstraints(pattern=r"^https://[^\s#]+#?$", max_length=400)] | None = None
    """Where your copy of docs/runbook.md lies, for links to its sections; left out: the file's name."""
    dashboards: bool = True
    """Give each endpoint a CloudWatch dashboard, which costs 3 USD a month."""
    local: LocalLimits | None = None
    """Limits of the local endpoints; only in `environments/local.yaml`."""

    @field_validator("local")
    @classmethod
    def _is_of_this_machine(cls, local: LocalLimits | None, info: ValidationInfo) -> LocalLimits | None:
        if local is not None and info.data.get("environment", LOCAL) != LOCAL:
            raise ValueError("`local` limits this machine: it belongs in environments/local.yaml alone")
        return local

    @field_validator("kms_key", "permissions_boundary")
    @classmethod
    def _is_of_this_account(cls, arn: str | None, info: ValidationInfo) -> str | None:
        if arn is None or not {"account", "region"} <= info.data.keys():
            return arn
        _, partition, service, region, account, _ = arn.split(":", 5)
        own = partition_of(info.data["region"]).name
        if partition != own:
            raise ValueError(f"it is of partition {partition}, and {info.data['region']} is of {own}")
        if account not in (info.data["account"], "aws"):
            raise ValueError(f"it is of account {account}, and the environment of {info.data['account']}")
        if service == "kms" and region != info.data["region"]:
            raise ValueError(f"it is of region {region}, and the environment of {info.data['region']}")
        return arn
