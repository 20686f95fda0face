"""The stacks of an environment: one that outlives every endpoint, and one for each endpoint."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from aws_cdk import App, CfnOutput, Environment, PermissionsBoundary, Stack, Tags, Validations
from aws_cdk.cx_api import CloudAssembly
from cdk_nag import AwsSolutionsChecks
from constructs import Construct

from fleet_stacks.dynamic_references import dynamic_references
from triton_endpoints.endpoint.parts import declare_endpoint
from triton_endpoints.foundation import declare_foundation
from triton_fleet.endpoint.resolved_endpoint import ResolvedEndpoint, ResolvedFleet
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.values import DYNAMIC


class FoundationStack(Stack):
    """The artifact bucket, the topics of alarms, what looks after scaling and logs, what checks and builds.

    Its template is the same whichever endpoints there are.
    """

    def __init__(self, scope: Construct, *, deployment: Deployment) -> None:
        super().__init__(
            scope,
            deployment.stack,
            env=Environment(account=deployment.account, region=deployment.region),
            description=f"Triton Fleet {deployment.environment}: shared resources of its endpoints",
            termination_protection=True,
            permissions_boundary=_boundary(deployment),
        )
        declare_foundation(self, deployment)


class EndpointStack(Stack):
    """Everything of one endpoint; it knows the bucket by its name and depends on no other stack."""

    def __init__(self, scope: Construct, *, endpoint: ResolvedEndpoint) -> None:
        super().__init__(
            scope,
            endpoint.stack,
            env=Environment(account=endpoint.deployment.account, region=endpoint.deployment.region),
            description=f"Triton endpoint {endpoint.name} ({endpoint.deployment.environment})",
            termination_protection=endpoint.deployment.termination_protection,
            permissions_boundary=_boundary(endpoint.deployment),
        )
        parts = declare_endpoint(self, endpoint)
        CfnOutput(
            self,
            "EndpointName",
            value=parts.endpoint.attr_endpoint_name,
            description="Name of the endpoint, for InvokeEndpoint",
        )
        if parts.invoker:
            CfnOutput(
                self,
                "InvokerRole",
                value=parts.invoker.attr_arn,
                description="ARN of the role that the invokers of the spec assume",
            )


def _boundary(place: Deployment) -> PermissionsBoundary | None:
    """The environment's permissions boundary, for every role of a stack, those of the CDK's functions too."""
    arn = place.permissions_boundary
    return PermissionsBoundary.from_arn(arn) if arn else None


def add_fleet(app: App, fleet: ResolvedFleet) -> None:
    """Add Foundation and a stack for each endpoint, tagged, with cdk-nag's AwsSolutions as synth's gate."""
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    for name, value in fleet.deployment.tags.items():
        Tags.of(app).add(name, value)
    FoundationStack(app, deployment=fleet.deployment)
    for endpoint in fleet.endpoints:
        stack = EndpointStack(app, endpoint=endpoint)
        for name, value in endpoint.tags.items():
            Tags.of(stack).add(name, value)


def synthesise(app: App, fleet: ResolvedFleet) -> CloudAssembly:
    """Declare a fleet in an app, write its templates, and search them for references to secrets.

    Raises:
        FindingsError: a template may have a dynamic reference; the product writes none.
    """
    add_fleet(app, fleet)
    assembly = app.synth()
    if references := list(_references(assembly)):
        raise FindingsError(references)
    return assembly


def _references(assembly: CloudAssembly) -> Iterator[Finding]:
    for stack in assembly.stacks:
        template = json.loads(Path(stack.template_full_path).read_text(encoding="utf-8"))
        for place in dynamic_references(template):
            message = (
                f"{place} of stack {stack.stack_name} may become a text with `{DYNAMIC}`, in whose place"
                " CloudFormation would put a value, a secret perhaps"
            )
            yield Finding(
                code="FL565",
                message=message,
                hint="do not deploy it: no rule refused the spec, so report a vulnerability (SECURITY.md)",
            )
