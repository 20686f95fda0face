"""Whether a deploy of a stack would change nothing, by what AWS has of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from triton_fleet.aws.access import Access
from triton_fleet.awsapi.errors import aws_errors_as_findings
from triton_fleet.changes.stack_comparison import (
    SynthesisedStack,
    has_same_settings,
    has_same_template,
    stored_values,
    synthesised_stack,
)
from triton_fleet.findings import CannotRunError


def is_unchanged(access: Access, assembly: Path, name: str) -> bool:
    """Whether a deploy of the stack would change nothing; False wherever that is uncertain.

    Compared are status, template, tags, notifications, protection, and the values of parameters from the
    parameter store. A dynamic reference (`{{resolve:ssm:...}}`) is looked up by CloudFormation only when its
    resource changes, so an equal template has nothing to look up.
    """
    try:
        with aws_errors_as_findings():
            return _is_unchanged(access, synthesised_stack(assembly, name), name)
    except CannotRunError:
        return False


def _is_unchanged(access: Access, synthesised: SynthesisedStack, name: str) -> bool:
    cloudformation = access.client("cloudformation")
    (deployed,) = cloudformation.describe_stacks(StackName=name)["Stacks"]
    if not has_same_settings(synthesised, deployed):
        return False
    body: Any = cloudformation.get_template(StackName=name, TemplateStage="Original")["TemplateBody"]
    if not has_same_template(synthesised, body):
        return False
    return all(
        access.client("ssm").get_parameter(Name=parameter)["Parameter"]["Value"] == value
        for parameter, value in stored_values(synthesised, deployed)
    )
