"""An endpoint in the app's VPC: its ids are tokens, for which a spec in memory has stand-ins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from aws_cdk import Token
from aws_cdk import aws_ec2 as ec2
from constructs import Construct

from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint
from triton_fleet.findings import Finding

Subnets: TypeAlias = ec2.SubnetSelection | Mapping[str, Any]
"""A selection of subnets, or its arguments by name."""


@dataclass(frozen=True, kw_only=True)
class VpcPlacement:
    """Subnets and security groups, by ids that CloudFormation may decide."""

    subnets: tuple[str, ...]
    groups: tuple[ec2.ISecurityGroup, ...]

    @property
    def keys(self) -> dict[str, list[str]]:
        """The keys of a spec with stand-ins, by which the rules see how many there are."""
        return {
            "subnets": [f"subnet-{number:08x}" for number in range(1, self._subnet_count + 1)],
            "security_groups": [f"sg-{number:08x}" for number, _ in enumerate(self.groups, 1)],
        }

    @property
    def _subnet_count(self) -> int:
        """How many subnets there are; of a list that is a token, two are assumed."""
        return 2 if Token.is_unresolved(list(self.subnets)) else len(self.subnets)

    def with_placement(self, endpoint: ResolvedEndpoint) -> ResolvedEndpoint:
        """The endpoint with the real ids."""
        ids = {
            "subnets": self.subnets,
            "security_groups": tuple(group.security_group_id for group in self.groups),
        }
        network = endpoint.spec.network.model_copy(update=ids)
        return replace(endpoint, spec=endpoint.spec.model_copy(update={"network": network}))


@dataclass(frozen=True, kw_only=True)
class VpcProps:
    """Where the containers of an endpoint are to be, as props; all None for SageMaker's own network."""

    vpc: ec2.IVpc | None = None
    subnets: Subnets | None = None
    groups: Sequence[ec2.ISecurityGroup] | None = None

    def placement(self, scope: Construct) -> VpcPlacement | None:
        """The placement; without security groups there is a new one below the scope. None without a VPC."""
        if self.vpc is None:
            return None
        selection = self.vpc.select_subnets() if self.subnets is None else _select(self.vpc, self.subnets)
        description = "Containers of a Triton endpoint"
        own = self.groups or [
            ec2.SecurityGroup(scope, "SecurityGroup", vpc=self.vpc, description=description)
        ]
        return VpcPlacement(subnets=tuple(selection.subnet_ids), groups=tuple(own))

    def findings(self) -> list[Finding]:
        """A VPC that is missing although what only a VPC has is given."""
        props = {"vpc_subnets": self.subnets is not None, "security_groups": bool(self.groups)}
        names = [f"`{name}`" for name, is_given in props.items() if is_given]
        if self.vpc is not None or not names:
            return []
        verb = "is" if len(names) == 1 else "are"
        message = f"`vpc` is missing, and {' and '.join(names)} {verb} given"
        hint = "give the VPC of these, or leave them out"
        return [Finding(code="FL111", message=message, file=Path("vpc"), hint=hint)]


def _select(vpc: ec2.IVpc, subnets: Subnets) -> ec2.SelectedSubnets:
    if isinstance(subnets, Mapping):
        subnets = ec2.SubnetSelection(**subnets)
    return vpc.select_subnets(
        availability_zones=subnets.availability_zones,
        one_per_az=subnets.one_per_az,
        subnet_filters=subnets.subnet_filters,
        subnet_group_name=subnets.subnet_group_name,
        subnets=subnets.subnets,
        subnet_type=subnets.subnet_type,
    )
