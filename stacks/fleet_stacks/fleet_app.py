"""One environment's fleet as a CDK app."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from aws_cdk import App, Tags, Validations
from aws_cdk.cx_api import CloudAssembly
from cdk_nag import AwsSolutionsChecks

from fleet_stacks.dynamic_references import dynamic_references
from fleet_stacks.stacks import EndpointStack, FoundationStack
from triton_fleet.endpoint.resolved_endpoint import ResolvedFleet
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.spec.values import DYNAMIC


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
    if found := list(_references(assembly)):
        raise FindingsError(found)
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
