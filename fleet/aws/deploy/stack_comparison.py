"""Whether a stack is deployed as it was synthesised, so that the CDK would change nothing."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fleet.aws.access import Access
from fleet.aws.api.errors import aws_errors_as_findings
from fleet.findings import CannotRunError

if TYPE_CHECKING:
    from mypy_boto3_cloudformation.type_defs import StackTypeDef

COMPLETE = ("CREATE_COMPLETE", "UPDATE_COMPLETE")
FROM_SSM = "AWS::SSM::Parameter::Value<"
LEFT_OUT = "[cdk:skip]"
"""In the description of a parameter whose value makes no difference, such as the bootstrap's version.

Source: `SSMPARAM_NO_INVALIDATE` of @aws-cdk/cloud-assembly-api, which the CDK compares by.
"""
ELSEWHERE = ("Fn::ImportValue", "Fn::GetStackOutput")
"""Functions whose value may change while the template stays as it is."""


@dataclass(frozen=True, kw_only=True)
class SynthesisedStack:
    """What the CDK would deploy: a template as text, tags, topics that are notified, protection."""

    template: str
    tags: dict[str, str]
    notifications: list[str]
    protected: bool

    @property
    def change_set(self) -> str:
        """A name for its change set, by its content.

        The CDK's toolkit 1.43 executes a change set by name. Under the CDK's own name, which is the same for
        all deploys, that may be the change set of a deploy from another clone.
        """
        content = json.dumps([self.template, self.tags, self.notifications])
        return f"fleet-{hashlib.sha256(content.encode()).hexdigest()}"


def synthesised_stack(assembly: Path, name: str) -> SynthesisedStack:
    """A stack of an assembly."""
    properties = json.loads((assembly / "manifest.json").read_text("utf-8"))["artifacts"][name]["properties"]
    return SynthesisedStack(
        template=(assembly / properties["templateFile"]).read_text("utf-8"),
        tags=properties.get("tags", {}),
        notifications=properties.get("notificationArns", []),
        protected=properties.get("terminationProtection", False),
    )


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


def _is_unchanged(access: Access, wanted: SynthesisedStack, name: str) -> bool:
    cloudformation = access.client("cloudformation")
    (found,) = cloudformation.describe_stacks(StackName=name)["Stacks"]
    if found["StackStatus"] not in COMPLETE or any(function in wanted.template for function in ELSEWHERE):
        return False
    is_same = (
        {each["Key"]: each["Value"] for each in found.get("Tags", [])} == wanted.tags
        and found.get("NotificationARNs", []) == wanted.notifications
        and found.get("EnableTerminationProtection", False) == wanted.protected
    )
    if not is_same:
        return False
    body: Any = cloudformation.get_template(StackName=name, TemplateStage="Original")["TemplateBody"]
    template = json.loads(wanted.template)
    # botocore gives JSON as an object, and any other text as it is.
    return template == body and _has_same_values(access, template.get("Parameters", {}), found)


def _has_same_values(access: Access, declared: dict[str, Any], found: StackTypeDef) -> bool:
    """Whether the parameter store has the values with which the stack was deployed."""
    ssm = access.client("ssm")
    return all(
        ssm.get_parameter(Name=each["ParameterValue"])["Parameter"]["Value"] == each.get("ResolvedValue")
        for each in found.get("Parameters", [])
        if declared[each["ParameterKey"]]["Type"].startswith(FROM_SSM)
        and LEFT_OUT not in declared[each["ParameterKey"]].get("Description", "")
    )
