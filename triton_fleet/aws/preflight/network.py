"""Whether S3 can be reached from the subnets of the endpoints, through which SageMaker downloads archives."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.aws.preflight.check_result import CheckResult
from triton_fleet.aws.preflight.subject import Subject
from triton_fleet.aws.preflight.vpc_routes import RouteToS3, VpcRoutes, read_routes
from triton_fleet.catalog.symptoms import symptom
from triton_fleet.findings import Finding


def network(subject: Subject) -> Iterator[CheckResult]:
    """One line for each subnet of an endpoint; nothing in the local fleet, whose containers join no VPC.

    A subnet without a route to S3 is an error; one whose routes may lead there is a warning. Security groups
    and network ACLs are not read.
    """
    joining = [endpoint for endpoint in subject.endpoints if endpoint.spec.network.subnets]
    if not joining or subject.access.is_local_fleet:
        return
    subnets = dict.fromkeys(subnet for each in joining for subnet in each.spec.network.subnets)
    routes = read_routes(subject.access.client("ec2"), list(subnets))
    for endpoint in joining:
        for index, subnet in enumerate(endpoint.spec.network.subnets):
            yield _subnet(subject, endpoint.name, index, subnet, routes)


def _subnet(subject: Subject, endpoint: str, index: int, subnet: str, routes: VpcRoutes) -> CheckResult:
    what, key, region = f"network {endpoint}", ("network", "subnets", index), subject.deployment.region
    if subnet not in routes.vpcs:
        message = f"the account has no subnet {subnet} in {region}"
        hint = "name subnets of this environment's account and region, such as by its `overrides`"
        finding = subject.of_spec(endpoint, key, "FL678", message, hint)
        return CheckResult(what=what, text=f"{subnet}: not in {region}", findings=(finding,))
    route = routes.to_s3(subnet)
    if route.leads:
        return CheckResult(what=what, text=f"{subnet}: S3 by {route.text}")
    finding = _finding(subject, endpoint, key, subnet, route)
    return CheckResult(what=what, text=f"{subnet}: {route.text}", findings=(finding,))


def _finding(
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
