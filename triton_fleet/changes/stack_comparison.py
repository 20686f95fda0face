"""Whether a stack is deployed as it was synthesised, so that the CDK would change nothing."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

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
    """A stack that the CDK would deploy: a template as text, tags, topics that are notified, protection."""

    template: str
    tags: dict[str, str]
    notifications: list[str]
    is_protected: bool

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
        is_protected=properties.get("terminationProtection", False),
    )


def has_same_settings(local_stack: SynthesisedStack, stack: StackTypeDef) -> bool:
    """Whether a stack was deployed completely, with the same tags, notifications and protection.

    False too where a value from elsewhere may have changed, although the template has not.
    """
    if stack["StackStatus"] not in COMPLETE or any(entry in local_stack.template for entry in ELSEWHERE):
        return False
    return (
        {entry["Key"]: entry["Value"] for entry in stack.get("Tags", [])} == local_stack.tags
        and stack.get("NotificationARNs", []) == local_stack.notifications
        and stack.get("EnableTerminationProtection", False) == local_stack.is_protected
    )


def has_same_template(stack: SynthesisedStack, body: object) -> bool:
    """Whether it is the deployed template; botocore gives JSON as an object, and any other text as it is."""
    template: object = json.loads(stack.template)
    return template == body


def stored_values(
    local_stack: SynthesisedStack, deployed_stack: StackTypeDef
) -> Iterator[tuple[str, str | None]]:
    """The names in the parameter store, each with the value with which the stack was deployed."""
    definitions = json.loads(local_stack.template).get("Parameters", {})
    for parameter_value in deployed_stack.get("Parameters", []):
        parameter = definitions[parameter_value["ParameterKey"]]
        if parameter["Type"].startswith(FROM_SSM) and LEFT_OUT not in parameter.get("Description", ""):
            yield parameter_value["ParameterValue"], parameter_value.get("ResolvedValue")
