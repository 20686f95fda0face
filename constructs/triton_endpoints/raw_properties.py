"""The escape hatch: raw CloudFormation properties of a spec, laid over a resource."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import CfnResource, Stack

from triton_fleet.context.machines import OWN_MODEL, names_own_model


def lay_over(
    resource: CfnResource, properties: Mapping[str, object], *, model: CfnResource | None = None
) -> None:
    """Override properties by their dotted path, such as `ProductionVariants.0.EnableSSMAccess`.

    Args:
        resource: What they are laid over.
        properties: The values by their paths.
        model: The Model that a spec calls by the logical id which it has in a stack of its own.
    """
    own = Stack.of(model).get_logical_id(model) if model else OWN_MODEL
    for path, value in properties.items():
        resource.add_property_override(path, value if own == OWN_MODEL else _with_model(value, own))


def _with_model(value: object, own: str) -> object:
    if names_own_model(value):
        return {"Fn::GetAtt": [own, "ModelName"]}
    match value:
        case dict():
            return {key: _with_model(inner, own) for key, inner in value.items()}
        case list() | tuple():
            return [_with_model(inner, own) for inner in value]
    return value
