"""The contract of `environments/*.yaml`: where a fleet is deployed and what differs there."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo, field_validator

from fleet.spec.values import Bytes, Document

LOCAL = "local"
"""The environment of the embedded AWS on this machine."""


def _not_reserved(key: str) -> str:
    if key.startswith(("aws:", "triton-fleet:")):
        raise ValueError("tags that begin with `aws:` or `triton-fleet:` are not yours to set")
    return key


TagKey = Annotated[str, StringConstraints(min_length=1, max_length=128), AfterValidator(_not_reserved)]
TagValue = Annotated[str, StringConstraints(max_length=256)]


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
    tags: dict[TagKey, TagValue] = Field(default_factory=dict)
    """Tags of everything that is deployed."""
    defaults: dict[str, object] = Field(default_factory=dict)
    """Keys of an endpoint's spec that hold where the spec itself says nothing."""
    overrides: dict[str, dict[str, object]] = Field(default_factory=dict)
    """By endpoint: keys that replace the spec's own here."""
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
