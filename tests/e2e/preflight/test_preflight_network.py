"""`fleet preflight`: whether S3 can be reached from the subnets of an endpoint."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.prepared_account import ENVIRONMENT, PreparedAccount, is_ec2_call

S3, DYNAMODB = "com.amazonaws.us-east-1.s3", "com.amazonaws.us-east-1.dynamodb"
SENTENCE = (
    "Please ensure that an S3 VPC endpoint exists in route table or NAT gateway for the VPC mode and the URL is"
    " reachable from within the subnets provided."
)
ALL_ADDRESSES = "0.0.0.0/0"


@dataclass(frozen=True)
class PrivateNetwork:
    """A VPC with one private subnet that an endpoint joins."""

    account: PreparedAccount
    ec2: Any
    vpc: str
    subnet: str

    @property
    def main_table(self) -> str:
        filters = [
            {"Name": "vpc-id", "Values": [self.vpc]},
            {"Name": "association.main", "Values": ["true"]},
        ]
        (table,) = self.ec2.describe_route_tables(Filters=filters)["RouteTables"]
        return str(table["RouteTableId"])

    def own_table(self) -> str:
        """A route table of the subnet's own."""
        table = str(self.ec2.create_route_table(VpcId=self.vpc)["RouteTable"]["RouteTableId"])
        self.ec2.associate_route_table(RouteTableId=table, SubnetId=self.subnet)
        return table

    def nat_gateway(self, table: str) -> None:
        """A default route to a NAT gateway."""
        gateway = self.ec2.create_nat_gateway(SubnetId=self.subnet)["NatGateway"]["NatGatewayId"]
        self.ec2.create_route(RouteTableId=table, DestinationCidrBlock=ALL_ADDRESSES, NatGatewayId=gateway)

    def internet_gateway(self, table: str) -> str:
        """A default route to the internet."""
        gateway = self.ec2.create_internet_gateway()["InternetGateway"]["InternetGatewayId"]
        self.ec2.attach_internet_gateway(InternetGatewayId=gateway, VpcId=self.vpc)
        self.ec2.create_route(RouteTableId=table, DestinationCidrBlock=ALL_ADDRESSES, GatewayId=gateway)
        return str(gateway)

    def gateway_endpoint(self, *tables: str, service: str = S3) -> str:
        """A gateway endpoint with routes in some tables."""
        answer = self.ec2.create_vpc_endpoint(
            VpcId=self.vpc, ServiceName=service, RouteTableIds=list(tables), VpcEndpointType="Gateway"
        )
        return str(answer["VpcEndpoint"]["VpcEndpointId"])

    def interface_endpoint(self, *, private_dns: bool = True, service: str = S3) -> str:
        """An interface endpoint for S3."""
        answer = self.ec2.create_vpc_endpoint(
            VpcId=self.vpc,
            ServiceName=service,
            VpcEndpointType="Interface",
            SubnetIds=[self.subnet],
            PrivateDnsEnabled=private_dns,
        )
        return str(answer["VpcEndpoint"]["VpcEndpointId"])

    def attribute(self, name: str, *, value: bool) -> None:
        self.ec2.modify_vpc_attribute(VpcId=self.vpc, **{name: {"Value": value}})

    def report(self) -> tuple[int, list[str], str]:
        """Exit code, the lines about the network, the findings on one line."""
        preflight = self.account.preflight()
        lines, findings = preflight.of("network sentences"), " ".join(preflight.findings.split())
        return preflight.code, lines, findings


def join_subnets(account: PreparedAccount, *subnets: str) -> None:
    text = ", ".join(subnets)
    allowed_text = f"allowed_networks: [{text}, sg-0123456789abcdef0]\n"
    account.folder.write("environments/dev.yaml", f"{ENVIRONMENT}{allowed_text}")
    account.folder.spec(f"network: {{subnets: [{text}], security_groups: [sg-0123456789abcdef0]}}\n")


@pytest.fixture
def network(account: PreparedAccount) -> PrivateNetwork:
    ec2 = account.client("ec2")
    vpc = ec2.create_vpc(CidrBlock="10.0.0.0/16")["Vpc"]["VpcId"]
    subnet = ec2.create_subnet(VpcId=vpc, CidrBlock="10.0.1.0/24")["Subnet"]["SubnetId"]
    join_subnets(account, subnet)
    network = PrivateNetwork(account, ec2, vpc, subnet)
    network.attribute("EnableDnsHostnames", value=True)
    return network


def test_an_endpoint_in_sagemakers_own_network_has_no_line(account: PreparedAccount) -> None:
    assert account.preflight().of("network sentences") == []


def test_a_subnet_without_any_route_is_an_error_with_sagemakers_sentence_and_the_command(
    network: PrivateNetwork,
) -> None:
    code, lines, findings = network.report()
    table = network.main_table
    assert code == 1
    assert lines == [f"✗ {network.subnet}: its route table {table} has no route to S3"]
    assert (
        f"model_specs/sentences.yaml:6:21: error[unreachable-s3] FL671: {network.subnet} of {network.vpc}"
        in findings
    )
    assert SENTENCE in findings
    assert (
        f"`aws ec2 create-vpc-endpoint --region us-east-1 --vpc-id {network.vpc} --service-name {S3} --route-table-ids"
        f" {table}`" in findings
    )


def test_a_gateway_endpoint_in_the_main_table_serves_a_subnet_without_a_table_of_its_own(
    network: PrivateNetwork,
) -> None:
    gateway = network.gateway_endpoint(network.main_table)
    assert network.report()[:2] == (0, [f"✓ {network.subnet}: S3 by the gateway endpoint {gateway}"])


def test_a_table_of_the_subnets_own_stands_before_the_main_table(network: PrivateNetwork) -> None:
    network.gateway_endpoint(network.main_table)
    own = network.own_table()
    assert network.report()[:2] == (1, [f"✗ {network.subnet}: its route table {own} has no route to S3"])
    network.nat_gateway(own)
    code, (line,), _ = network.report()
    assert (code, line.startswith(f"✓ {network.subnet}: S3 by its default route to nat-")) == (0, True)


def test_a_gateway_endpoint_of_another_service_is_no_route_to_s3(network: PrivateNetwork) -> None:
    network.gateway_endpoint(network.main_table, service=DYNAMODB)
    assert network.report()[0] == 1


def test_a_default_route_to_an_internet_gateway_is_a_warning(network: PrivateNetwork) -> None:
    gateway = network.internet_gateway(network.main_table)
    code, (line,), findings = network.report()
    assert (code, line.startswith("! ")) == (0, True)
    assert (
        f"warning[unreachable-s3] FL671: {network.subnet} of {network.vpc}: its default route leads to {gateway}"
        in findings
    )
    assert "no public address" in findings


def test_a_route_that_may_lead_to_s3_is_a_warning(network: PrivateNetwork) -> None:
    gateway = network.ec2.create_transit_gateway()["TransitGateway"]["TransitGatewayId"]
    network.ec2.create_route(
        RouteTableId=network.main_table, DestinationCidrBlock="52.0.0.0/8", TransitGatewayId=gateway
    )
    code, _, findings = network.report()
    assert (code, f"only its routes to {gateway} may lead to S3" in findings) == (0, True)


def test_a_default_route_to_a_peer_is_a_warning_because_no_gateway_is_reached_through_it(
    network: PrivateNetwork,
) -> None:
    peer = network.ec2.create_vpc(CidrBlock="10.1.0.0/16")["Vpc"]["VpcId"]
    answer = network.ec2.create_vpc_peering_connection(VpcId=network.vpc, PeerVpcId=peer)
    connection_id = answer["VpcPeeringConnection"]["VpcPeeringConnectionId"]
    network.ec2.create_route(
        RouteTableId=network.main_table,
        DestinationCidrBlock=ALL_ADDRESSES,
        VpcPeeringConnectionId=connection_id,
    )
    code, _, findings = network.report()
    assert (code, f"warning[unreachable-s3] FL671: {network.subnet} of" in findings) == (0, True)
    assert f"only its routes to {connection_id} may lead to S3" in findings


def test_a_route_table_that_cannot_be_seen_is_a_warning(network: PrivateNetwork) -> None:
    network.account.change(
        lambda request: is_ec2_call(request, "DescribeRouteTables"),
        lambda body: re.sub(b"<routeTableSet>.*</routeTableSet>", b"<routeTableSet/>", body, flags=re.DOTALL),
    )
    code, lines, findings = network.report()
    assert (code, lines) == (0, [f"! {network.subnet}: its route table cannot be seen"])
    assert "the owner of the VPC" in findings
    assert "--route-table-ids" not in findings


def test_an_interface_endpoint_serves_every_subnet_of_a_vpc_that_resolves_its_name(
    network: PrivateNetwork,
) -> None:
    interface = network.interface_endpoint()
    assert network.report()[:2] == (0, [f"✓ {network.subnet}: S3 by the interface endpoint {interface}"])
    network.attribute("EnableDnsSupport", value=False)
    code, _, findings = network.report()
    assert (
        code,
        f"{interface} needs enableDnsSupport and enableDnsHostnames of {network.vpc}" in findings,
    ) == (1, True)


def test_an_interface_endpoint_without_private_dns_is_a_warning_because_a_zone_of_ones_own_may_lead_to_it(
    network: PrivateNetwork,
) -> None:
    interface = network.interface_endpoint(private_dns=False)
    code, _, findings = network.report()
    assert (code, "warning[unreachable-s3] FL671" in findings) == (0, True)
    assert f"{interface} has no private DNS inside its VPC, so only DNS of your own leads to it" in findings


def test_an_interface_endpoint_for_s3_of_another_region_leads_to_no_bucket_of_the_environment(
    network: PrivateNetwork,
) -> None:
    network.interface_endpoint(service="com.amazonaws.eu-west-1.s3")
    code, _, findings = network.report()
    assert (code, "error[unreachable-s3] FL671" in findings) == (1, True)


def test_a_subnet_that_the_account_does_not_have_is_an_error_at_its_place(network: PrivateNetwork) -> None:
    network.gateway_endpoint(network.main_table)
    join_subnets(network.account, network.subnet, "subnet-0123456789abcdef0")
    code, lines, findings = network.report()
    assert code == 1
    assert lines[1] == "✗ subnet-0123456789abcdef0: not in us-east-1"
    assert (
        "error[missing-subnet] FL678: the account has no subnet subnet-0123456789abcdef0 in us-east-1"
        in findings
    )


@pytest.mark.parametrize("operation", ["DescribeSubnets", "DescribeRouteTables", "DescribeVpcEndpoints"])
def test_without_a_permission_it_is_named_and_nothing_is_claimed(
    network: PrivateNetwork, operation: str
) -> None:
    account = network.account
    account.refuse_ec2(operation)
    preflight = account.preflight()
    assert preflight.code == 0
    assert preflight.of("network") == [f"! not checked: no permission for ec2:{operation}"]


@pytest.mark.parametrize(
    ("operation", "items"),
    [("DescribeRouteTables", b"routeTableSet"), ("DescribeVpcEndpoints", b"vpcEndpointSet")],
)
def test_it_reads_the_pages_after_an_empty_one(network: PrivateNetwork, operation: str, items: bytes) -> None:
    network.gateway_endpoint(network.main_table)

    def empty_page(body: bytes) -> bytes:
        empty = b"<%s/><nextToken>more</nextToken>" % items
        return re.sub(b"<%s>.*</%s>" % (items, items), empty, body, flags=re.DOTALL)

    network.account.change(
        lambda request: is_ec2_call(request, operation) and b"NextToken" not in request.body, empty_page
    )
    assert network.report()[0] == 0
