"""The declaration of a deployed stack: its resources with references, attributes and parameters put in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from triton_fleet.aws.access import Access
from triton_fleet.awsapi.stack import LiveStack, stack_resources

PARAMETER = re.compile(r"\{\{resolve:ssm:([^:}]+)(?::\d+)?\}\}")
"""A dynamic reference to the parameter store."""


class Unknown:
    """A declared value that only CloudFormation knows; it is compared with nothing."""

    def __repr__(self) -> str:
        """For messages."""
        return "(known to CloudFormation alone)"


UNKNOWN = Unknown()


class AnyCase(str):
    """A name that SageMaker was given and CloudFormation knows by its ARN alone, which is in lower case."""

    __slots__ = ()


@dataclass(frozen=True, kw_only=True)
class DeclaredResource:
    """One resource; `physical_id` is its name, or its ARN where `Ref` gives that."""

    logical_id: str
    type: str
    physical_id: str
    properties: Mapping[str, Any]

    @property
    def name(self) -> str:
        """Its physical id; of an ARN the end, which SageMaker lowers, unless the template gives the name."""
        if not self.physical_id.startswith("arn:"):
            return self.physical_id
        template_name = self.properties.get(f"{self.type.rpartition('::')[2]}Name")
        return template_name if isinstance(template_name, str) else self.physical_id.rpartition("/")[2]


@dataclass(frozen=True, kw_only=True)
class DeclaredStack:
    """A stack's resources in the order of their logical ids."""

    name: str
    resources: tuple[DeclaredResource, ...]

    def of_type(self, type: str) -> list[DeclaredResource]:
        """The resources of a type."""
        return [resource for resource in self.resources if resource.type == type]


def declared_stack(access: Access, stack: LiveStack) -> DeclaredStack:
    """Read a stack's template and its resources.

    Raises:
        ClientError: access is denied.
    """
    cloudformation = access.client("cloudformation")
    body: Any = cloudformation.get_template(StackName=stack.id, TemplateStage="Processed")["TemplateBody"]
    template = body if isinstance(body, dict) else json.loads(body)
    ids = {
        stack_resource["LogicalResourceId"]: stack_resource["PhysicalResourceId"]
        for stack_resource in stack_resources(cloudformation, stack)
    }
    values = _Values(access, stack, template, {**stack.parameters, **ids})
    return DeclaredStack(
        name=stack.name,
        resources=tuple(
            DeclaredResource(
                logical_id=id,
                type=resource["Type"],
                physical_id=ids[id],
                properties=values.properties(resource.get("Properties", {})),
            )
            for id, resource in sorted(template.get("Resources", {}).items())
            if id in ids
        ),
    )


class _Values:
    """The values of a template's functions, as far as they follow from the resources that exist."""

    def __init__(
        self, access: Access, stack: LiveStack, template: Mapping[str, Any], ids: Mapping[str, str]
    ) -> None:
        self._access, self._ids, self._types = access, ids, template.get("Resources", {})
        deployment = access.deployment
        self._pseudo = {
            "AWS::AccountId": deployment.account,
            "AWS::Partition": deployment.partition.name,
            "AWS::Region": deployment.region,
            "AWS::StackId": stack.id,
            "AWS::StackName": stack.name,
            "AWS::URLSuffix": deployment.partition.dns,
        }
        self._parameters: dict[str, str] = {}

    def properties(self, declaration: Mapping[str, Any]) -> dict[str, Any]:
        return {name: self._value(value) for name, value in self._present(declaration)}

    @staticmethod
    def _present(properties: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        return ((name, value) for name, value in properties.items() if value != {"Ref": "AWS::NoValue"})

    def _value(self, node: Any) -> Any:
        if isinstance(node, str):
            return PARAMETER.sub(lambda match: self._parameter(match[1]), node)
        if isinstance(node, list):
            return [self._value(item) for item in node if item != {"Ref": "AWS::NoValue"}]
        if not isinstance(node, Mapping):
            return node
        if len(node) == 1:
            ((function, argument),) = node.items()
            if function == "Ref":
                return self._pseudo.get(argument) or self._ids.get(argument, UNKNOWN)
            if function == "Fn::GetAtt":
                return self._attribute(*argument)
            if function == "Fn::Join":
                return self._join(*argument)
            if function.startswith("Fn::"):
                return UNKNOWN
        return {name: self._value(value) for name, value in self._present(node)}

    def _join(self, separator: str, parts: Any) -> Any:
        values = self._value(parts)
        return UNKNOWN if UNKNOWN in values else separator.join(map(str, values))

    def _attribute(self, resource: str, attribute: str) -> Any:
        id, type = self._ids.get(resource), self._types.get(resource, {}).get("Type")
        if id is None:
            return UNKNOWN
        if attribute in ("EndpointName", "EndpointConfigName", "ModelName"):
            name = self._types[resource].get("Properties", {}).get(attribute)
            return name if isinstance(name, str) else AnyCase(id.rpartition("/")[2])
        partition, account = self._pseudo["AWS::Partition"], self._pseudo["AWS::AccountId"]
        match type, attribute:
            case "AWS::IAM::OIDCProvider", "Arn":
                return id
            case "AWS::IAM::Role", "Arn":
                return f"arn:{partition}:iam::{account}:role/{id}"
            case "AWS::S3::Bucket", "Arn":
                return f"arn:{partition}:s3:::{id}"
            case "AWS::Lambda::Function", "Arn":
                return f"arn:{partition}:lambda:{self._pseudo['AWS::Region']}:{account}:function:{id}"
        return UNKNOWN

    def _parameter(self, name: str) -> str:
        if name not in self._parameters:
            answer = self._access.client("ssm").get_parameter(Name=name)
            self._parameters[name] = answer["Parameter"]["Value"]
        return self._parameters[name]
