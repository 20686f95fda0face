"""Routes of subnets to S3, from the route tables and endpoints of their VPCs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from triton_fleet.aws.preflight.subject import CheckResult, Subject
from triton_fleet.catalog.symptoms import symptom
from triton_fleet.findings import Finding

ALL_ADDRESSES = "0.0.0.0/0"
TARGETS = (
    "NatGatewayId",
    "TransitGatewayId",
    "NetworkInterfaceId",
    "VpcPeeringConnectionId",
    "LocalGatewayId",
    "CarrierGatewayId",
    "CoreNetworkArn",
    "GatewayId",
)
"""Where a route leads. Source: botocore, EC2's shape Route."""
AVAILABLE_STATE, BLACKHOLE_STATE, IN_VPC, INTERNET_GATEWAY_PREFIX, PEER_PREFIX = (
    "available",
    "blackhole",
    "local",
    "igw-",
    "pcx-",
)
DNS = ("enableDnsSupport", "enableDnsHostnames")
"""The attributes of a VPC that private DNS needs. Source: AWS PrivateLink guide, manage-dns-names.html."""
Items: TypeAlias = Literal["RouteTables", "Subnets", "VpcEndpoints"]
OPERATIONS: Mapping[Items, str] = {
    "RouteTables": "describe_route_tables",
    "Subnets": "describe_subnets",
    "VpcEndpoints": "describe_vpc_endpoints",
}
MAX_FILTER_VALUES = 200
"""The most values of a filter. Source: EC2 API reference, Query requests, filters."""


@dataclass(frozen=True, kw_only=True)
class RouteToS3:
    """A subnet's route: whether it leads to S3, None if that is not known; by what, or why not.

    `table` is the subnet's route table; empty if it cannot be seen, as the owner of a shared VPC has it.
    """

    vpc: str
    table: str
    leads: bool | None
    text: str


@dataclass(frozen=True, kw_only=True)
class VpcRoutes:
    """The VPC of each subnet, and the route tables and endpoints of these VPCs.

    `region` is the subnets' own: an endpoint for S3 of another one does not lead to the region's buckets.
    `resolves` is whether a VPC with an interface endpoint has both attributes that private DNS needs.
    """

    region: str
    vpcs: Mapping[str, str]
    tables: Sequence[Mapping[str, Any]]
    endpoints: Sequence[Mapping[str, Any]]
    resolves: Mapping[str, bool]

    def to_s3(self, subnet: str) -> RouteToS3:
        """The subnet's route."""
        table = self._table(subnet)
        leads, text = self._route(self.vpcs[subnet], table)
        return RouteToS3(vpc=self.vpcs[subnet], table=table.get("RouteTableId", ""), leads=leads, text=text)

    def _table(self, subnet: str) -> Mapping[str, Any]:
        """The subnet's own route table, or else the main one of its VPC; empty if neither can be seen."""
        tables = [table for table in self.tables if table["VpcId"] == self.vpcs[subnet]]
        associations = ((table, association) for table in tables for association in table["Associations"])
        of_subnet = {
            association.get("SubnetId", "main"): table
            for table, association in associations
            if "SubnetId" in association or association.get("Main")
        }
        return of_subnet.get(subnet, of_subnet.get("main", {}))

    def _route(self, vpc: str, table: Mapping[str, Any]) -> tuple[bool | None, str]:
        vpc_endpoints = [endpoint for endpoint in self.endpoints if endpoint["VpcId"] == vpc]
        endpoints = [vpc_endpoint for vpc_endpoint in vpc_endpoints if _is_of_s3(vpc_endpoint, self.region)]
        for endpoint in endpoints:
            if table and table["RouteTableId"] in endpoint.get("RouteTableIds", ()):
                return True, f"the gateway endpoint {endpoint['VpcEndpointId']}"
        interfaces = [endpoint for endpoint in endpoints if endpoint["VpcEndpointType"] == "Interface"]
        problems = [(interface["VpcEndpointId"], self._problem(interface)) for interface in interfaces]
        for interface, problem in problems:
            if not problem:
                return True, f"the interface endpoint {interface}"
        leads, text = _by_table(table, {vpc_endpoint["VpcEndpointId"] for vpc_endpoint in vpc_endpoints})
        if leads is False and not all(_has_private_dns(interface) for interface in interfaces):
            leads = None
        return leads, "; ".join([text, *(f"{interface} {problem}" for interface, problem in problems)])

    def _problem(self, interface: Mapping[str, Any]) -> str:
        """Why S3's own name does not resolve to an interface endpoint; empty if it does."""
        if not _has_private_dns(interface):
            return "has no private DNS inside its VPC, so only DNS of your own leads to it"
        vpc = interface["VpcId"]
        return "" if self.resolves[vpc] else f"needs {' and '.join(DNS)} of {vpc}"


def read_routes(ec2: Any, subnets: Sequence[str]) -> VpcRoutes:
    """The answers of EC2 about the VPCs of subnets; a subnet that does not exist is left out.

    Raises:
        ClientError: access is denied.
    """
    vpcs = {item["SubnetId"]: item["VpcId"] for item in _all_items(ec2, "Subnets", "subnet-id", subnets)}
    ids = sorted(set(vpcs.values()))
    region = ec2.meta.region_name
    endpoints = list(_all_items(ec2, "VpcEndpoints", "vpc-id", ids))
    interfaces = [
        endpoint
        for endpoint in endpoints
        if endpoint["VpcEndpointType"] == "Interface" and _is_of_s3(endpoint, region)
    ]
    return VpcRoutes(
        region=region,
        vpcs=vpcs,
        tables=list(_all_items(ec2, "RouteTables", "vpc-id", ids)),
        endpoints=endpoints,
        resolves={
            vpc: all(_attribute(ec2, vpc, item) for item in DNS)
            for vpc in {interface["VpcId"] for interface in interfaces}
        },
    )


def _all_items(ec2: Any, items: Items, filter: str, values: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """The items of all pages whose attribute has one of some values."""
    paginator = ec2.get_paginator(OPERATIONS[items])
    for start in range(0, len(values), MAX_FILTER_VALUES):
        filters = [{"Name": filter, "Values": list(values[start : start + MAX_FILTER_VALUES])}]
        for page in paginator.paginate(Filters=filters):
            yield from page[items]


def _attribute(ec2: Any, vpc: str, name: str) -> bool:
    answer = ec2.describe_vpc_attribute(VpcId=vpc, Attribute=name)
    return bool(answer[name[0].upper() + name[1:]]["Value"])


def _is_of_s3(endpoint: Mapping[str, Any], region: str) -> bool:
    return (
        str(endpoint["ServiceName"]).endswith(f".{region}.s3")
        and str(endpoint["State"]).lower() == AVAILABLE_STATE
    )


def _has_private_dns(interface: Mapping[str, Any]) -> bool:
    dns = interface.get("DnsOptions", {})
    return bool(
        interface.get("PrivateDnsEnabled") and not dns.get("PrivateDnsOnlyForInboundResolverEndpoint")
    )


def _by_table(table: Mapping[str, Any], endpoints: Collection[str]) -> tuple[bool | None, str]:
    """Whether a table leads to S3 by a route to something else than the known endpoints.

    The endpoints of a shared VPC are its owner's and not known. Gateways of a peer cannot be used.
    Source: VPC peering guide, vpc-peering-basics.html, limitations.
    """
    if not table:
        return None, "its route table cannot be seen"
    active = [route for route in table["Routes"] if route.get("State") != BLACKHOLE_STATE]
    default = next(
        (_target(route) for route in active if route.get("DestinationCidrBlock") == ALL_ADDRESSES), ""
    )
    if default.startswith(INTERNET_GATEWAY_PREFIX):
        reason = "SageMaker's network interfaces probably have no public address, so it does not serve them"
        return None, f"its default route leads to {default}, and {reason}"
    if default and not default.startswith(PEER_PREFIX):
        return True, f"its default route to {default}"
    targets = {_target(route) for route in active if "DestinationIpv6CidrBlock" not in route}
    targets -= {"", IN_VPC, *endpoints}
    if targets:
        return None, f"only its routes to {', '.join(sorted(targets))} may lead to S3"
    return False, f"its route table {table['RouteTableId']} has no route to S3"


def _target(route: Mapping[str, Any]) -> str:
    return next((str(route[key]) for key in TARGETS if route.get(key)), "")


def network(subject: Subject) -> Iterator[CheckResult]:
    """One line for each subnet of an endpoint; nothing in the local fleet, whose containers join no VPC.

    A subnet without a route to S3 is an error; one whose routes may lead there is a warning. Security groups
    and network ACLs are not read.
    """
    endpoints = [endpoint for endpoint in subject.endpoints if endpoint.spec.network.subnets]
    if not endpoints or subject.access.is_local_fleet:
        return
    subnets = dict.fromkeys(subnet for endpoint in endpoints for subnet in endpoint.spec.network.subnets)
    routes = read_routes(subject.access.client("ec2"), list(subnets))
    for endpoint in endpoints:
        for index, subnet in enumerate(endpoint.spec.network.subnets):
            yield _subnet(subject, endpoint.name, index, subnet, routes)


def _subnet(subject: Subject, endpoint: str, index: int, subnet: str, routes: VpcRoutes) -> CheckResult:
    title, key, region = f"network {endpoint}", ("network", "subnets", index), subject.deployment.region
    if subnet not in routes.vpcs:
        message = f"the account has no subnet {subnet} in {region}"
        hint = "name subnets of this environment's account and region, such as by its `overrides`"
        finding = subject.of_spec(endpoint, key, "FL678", message, hint)
        return CheckResult(title=title, text=f"{subnet}: not in {region}", findings=(finding,))
    route = routes.to_s3(subnet)
    if route.leads:
        return CheckResult(title=title, text=f"{subnet}: S3 by {route.text}")
    finding = _network_finding(subject, endpoint, key, subnet, route)
    return CheckResult(title=title, text=f"{subnet}: {route.text}", findings=(finding,))


def _network_finding(
    subject: Subject, endpoint: str, key: tuple[str, str, int], subnet: str, route: RouteToS3
) -> Finding:
    words, region = symptom("s3_not_reached").example, subject.deployment.region
    _, _, refusal = words.partition('". ')
    message = (
        f"{subnet} of {route.vpc}: {route.text}. SageMaker downloads the archives through the subnet, and"
        f" fails without a route: {refusal}"
    )
    create = (
        f"aws ec2 create-vpc-endpoint --region {region} --vpc-id {route.vpc}"
        f" --service-name com.amazonaws.{region}.s3 --route-table-ids {route.table}"
    )
    hint = f"`{create}` adds a gateway endpoint, which is free; or add a default route to a NAT gateway"
    if not route.table:
        hint = "ask the owner of the VPC whether the subnet's route table leads to S3"
    return subject.of_spec(endpoint, key, "FL671", message, hint, warns=route.leads is None)
