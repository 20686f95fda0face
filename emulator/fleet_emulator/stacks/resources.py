"""A template as it is resolved against the deployed resources, and its order of dependencies."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any

from moto.cloudformation.exceptions import ValidationError
from moto.cloudformation.models import cloudformation_backends
from moto.cloudformation.parsing import ResourceMap, clean_json
from moto.ssm.models import ssm_backends

from fleet_emulator.types.resource import Declaration, Resource

_FROM_SSM = re.compile(r"\{\{resolve:ssm:([^:}]+)(?::\d+)?\}\}")
_REFERENCE = "{{resolve:"
MAX_REFERENCES = 60
"""Dynamic references in a template; source: CloudFormation user guide, dynamic-references.html."""


class Resources(ResourceMap):
    """Resolves like moto's, but never creates what it is only asked about: that is for a stack's run."""

    def __getitem__(self, key: str) -> Any:
        if key not in self._parsed_resources and key not in self._resource_json_map:
            raise KeyError(key)
        return self._parsed_resources.get(key)

    @property
    def template(self) -> dict[str, Any]:
        """The template with other stacks' outputs put in."""
        return self._template

    def load(self) -> None:
        """Resolve parameters, conditions and what comes from other stacks.

        Raises:
            ValidationError: something that the template takes from outside does not exist, or it has too many
                dynamic references. That each one counts, and the words, are inferred.
        """
        count = json.dumps(self._template).count(_REFERENCE)
        if count > MAX_REFERENCES:
            raise ValidationError(
                message=f"Template format error: Number of dynamic references, {count}, is greater than"
                f" maximum allowed, {MAX_REFERENCES}"
            )
        self.load_mapping()
        self.transform_mapping()
        self.load_parameters()
        self._template = self._with_stack_outputs(self._template)
        self._resource_json_map = self._template.get("Resources", {})
        self.load_conditions()

    def place(self, logical_id: str, resource: Resource) -> None:
        """Let others refer to a deployed resource."""
        self._parsed_resources[logical_id] = resource

    def placed(self, logical_id: str) -> Resource | None:
        """What a resource is resolved to."""
        return self._parsed_resources.get(logical_id)

    def declared(self, logical_id: str) -> Declaration | None:
        """The resource with all its functions resolved; None when its condition is false."""
        properties = self._resource_json_map[logical_id].get("Properties", {})
        return self._declaration(logical_id, lambda: self._with_ssm(clean_json(properties, self)))

    def foreseen(self, logical_id: str, unknown: str) -> Declaration | None:
        """The same before it is deployed: what cannot be resolved yet is unknown."""
        properties = self._resource_json_map[logical_id].get("Properties", {})

        def resolved(value: Any) -> Any:
            try:
                return self._with_ssm(clean_json(value, self))
            except Exception:  # a function of a value that does not exist yet, such as a part of its ARN
                return unknown

        return self._declaration(
            logical_id, lambda: {name: resolved(value) for name, value in properties.items()}
        )

    def _declaration(self, logical_id: str, properties: Callable[[], dict[str, Any]]) -> Declaration | None:
        json = self._resource_json_map[logical_id]
        if "Condition" in json and not self.lazy_condition_map[json["Condition"]]:
            return None
        return Declaration(
            logical_id=logical_id,
            type=json["Type"],
            properties=properties(),
            stack_name=str(self["AWS::StackName"]),
            stack_id=self.stack_id,
            account_id=self._account_id,
            region=self._region_name,
            deletion_policy=json.get("DeletionPolicy", "Delete"),
            update_replace_policy=json.get("UpdateReplacePolicy", "Delete"),
        )

    def parse_ssm_parameter(self, value: str, value_type: str) -> Any:
        """The value of a parameter that names one of the parameter store; moto fails without words."""
        found = self._ssm_value(value)
        return found.split(",") if "List<" in value_type else found

    def _ssm_value(self, name: str) -> str:
        parameter = ssm_backends[self._account_id][self._region_name].get_parameter(name)
        if parameter is None:
            raise ValidationError(
                message=f"Unable to fetch parameters [{name}] from parameter store for this account."
            )
        return str(parameter.value)

    def _with_ssm(self, node: Any) -> Any:
        if isinstance(node, str):
            return _FROM_SSM.sub(lambda match: self._ssm_value(match.group(1)), node)
        if isinstance(node, list):
            return [self._with_ssm(each) for each in node]
        if isinstance(node, Mapping):
            return {key: self._with_ssm(value) for key, value in node.items()}
        return node

    def _with_stack_outputs(self, node: Any) -> Any:
        """Put in another stack's outputs for `Fn::GetStackOutput`, which CDK writes for weak references."""
        if isinstance(node, list):
            return [self._with_stack_outputs(each) for each in node]
        if not isinstance(node, dict):
            return node
        if "Fn::GetStackOutput" in node:
            return self._stack_output(**clean_json(node["Fn::GetStackOutput"], self))
        return {key: self._with_stack_outputs(value) for key, value in node.items()}

    def _stack_output(self, *, StackName: str, OutputName: str, Region: str = "") -> str:
        backend = cloudformation_backends[self._account_id][Region or self._region_name]
        [stack] = backend.describe_stacks(StackName)
        for output in stack.outputs or []:
            if output["OutputKey"] == OutputName:
                return str(output["OutputValue"])
        raise ValidationError(message=f"Output {OutputName} does not exist in stack {StackName}")


_SUBSTITUTED = re.compile(r"\$\{([^!}]+)\}")


def references(node: Any) -> Iterator[str]:
    """The names of all that `Ref`, `Fn::GetAtt` and `Fn::Sub` refer to, parameters included."""
    yield from (name for name, _ in referred_attributes(node))


def referred_attributes(node: Any) -> Iterator[tuple[str, str]]:
    """The same, each with the attribute of `Fn::GetAtt`; it is empty for a `Ref`."""
    if isinstance(node, list):
        for each in node:
            yield from referred_attributes(each)
    if not isinstance(node, Mapping):
        return
    for key, value in node.items():
        if key == "Ref":
            yield value, ""
        elif key == "Fn::GetAtt":
            name, _, attribute = (value if isinstance(value, str) else ".".join(map(str, value))).partition(
                "."
            )
            yield name, attribute
        elif key == "Fn::Sub":
            text, names = (value, {}) if isinstance(value, str) else value
            for found in _SUBSTITUTED.findall(text):
                name, _, attribute = found.partition(".")
                if name not in names:
                    yield name, attribute
            yield from referred_attributes(names)
        else:
            yield from referred_attributes(value)


def in_dependency_order(resources: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The logical ids, each after all that it needs.

    Raises:
        ValueError: resources need each other.
    """
    graph = {
        logical_id: [name for name in _needs(resource) if name in resources]
        for logical_id, resource in resources.items()
    }
    try:
        return list(TopologicalSorter(graph).static_order())
    except CycleError as error:
        raise ValueError(f"Circular dependency between resources: [{', '.join(error.args[1][1:])}]") from None


def _needs(resource: Mapping[str, Any]) -> list[str]:
    depends_on = resource.get("DependsOn", [])
    explicit = [depends_on] if isinstance(depends_on, str) else depends_on
    return [*explicit, *references(resource.get("Properties", {}))]
