"""The network of an endpoint's containers."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, StringConstraints, model_validator

from triton_fleet.catalog.limits import limit
from triton_fleet.spec.values import Document

Subnet = Annotated[str, StringConstraints(pattern=r"^subnet-([0-9a-f]{8}|[0-9a-f]{17})$")]
SecurityGroup = Annotated[str, StringConstraints(pattern=r"^sg-([0-9a-f]{8}|[0-9a-f]{17})$")]

NetworkId = Annotated[str, StringConstraints(pattern=r"^(subnet|sg)-([0-9a-f]{8}|[0-9a-f]{17})$")]
"""A subnet or a security group."""


class Network(Document):
    """Your own VPC, and network isolation."""

    subnets: Annotated[tuple[Subnet, ...], Field(strict=False, max_length=limit("subnets"))] = ()
    """Subnets of one VPC in at least two availability zones; default: SageMaker's own network."""
    security_groups: Annotated[
        tuple[SecurityGroup, ...], Field(strict=False, max_length=limit("security_groups"))
    ] = ()
    """Security groups of the containers in these subnets."""
    isolated: bool = False
    """Block all calls to and from the container except SageMaker's own; it also has no credentials."""

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        if bool(self.subnets) is not bool(self.security_groups):
            missing = "security_groups" if self.subnets else "subnets"
            raise ValueError(
                f"a VPC is named by both its `subnets` and its `security_groups`: give `{missing}` too"
            )
        for what, ids in (("subnet", self.subnets), ("security group", self.security_groups)):
            if len(set(ids)) < len(ids):
                raise ValueError(f"a {what} is listed twice")
        return self
