"""One environment's fleet as a CDK app."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from aws_cdk import App, Tags, Validations
from aws_cdk.cx_api import CloudAssembly
from cdk_nag import AwsSolutionsChecks

from fleet.endpoint.resolved_endpoint import ResolvedFleet
from fleet.findings import Finding, FindingsError
from fleet.spec.alarms import SEVERITIES
from fleet.spec.values import DYNAMIC
from fleet_stacks.dynamic_references import dynamic_references
from fleet_stacks.stacks import EndpointStack, FoundationStack


def add_fleet(app: App, fleet: ResolvedFleet) -> None:
    """Add Foundation and a stack for each endpoint, tagged, with cdk-nag's AwsSolutions as synth's gate."""
    Validations.of(app).add_plugins(AwsSolutionsChecks(app))
    for name, value in fleet.place.tags.items():
        Tags.of(app).add(name, value)
    FoundationStack(app, place=fleet.place)
    for endpoint in fleet.endpoints:
        stack = EndpointStack(app, endpoint=endpoint)
        for name, value in endpoint.tags.items():
            Tags.of(stack).add(name, value)


def synthesise(app: App, fleet: ResolvedFleet) -> CloudAssembly:
    """Declare a fleet in an app, write its templates, and search them for references to secrets.

    Raises:
        FindingsError: a template may have a dynamic reference that is not the product's own.
    """
    add_fleet(app, fleet)
    assembly = app.synth()
    if found := list(_foreign_references(assembly, fleet)):
        raise FindingsError(found)
    return assembly


def _foreign_references(assembly: CloudAssembly, fleet: ResolvedFleet) -> Iterator[Finding]:
    own = {each.stack: each for each in fleet.endpoints}
    for stack in assembly.stacks:
        endpoint = own.get(stack.stack_name)
        owner = endpoint.topic_owner if endpoint else None
        topics = {fleet.place.topic_reference(severity, owner) for severity in SEVERITIES}
        file = Path(stack.template_full_path)
        template = json.loads(file.read_text(encoding="utf-8"))
        for place in dynamic_references(template, topics if endpoint else ()):
            message = (
                f"{place} of stack {stack.stack_name} may become a text with `{DYNAMIC}`, in whose place"
                " CloudFormation would put a value, a secret perhaps"
            )
            yield Finding(
                code="FL565",
                message=message,
                hint="do not deploy it: no rule refused the spec, so report a vulnerability (SECURITY.md)",
            )
