"""Logical ids that follow content, and raw properties laid over a resource."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256

from aws_cdk import CfnElement, CfnResource, Stack

from triton_fleet.context.machines import OWN_MODEL, names_own_model


def content_digest(stack: Stack, content: object) -> str:
    """Eight hexadecimal digits of a content: JSON, in which a reference to a resource counts by its id."""
    return sha256(json.dumps(stack.resolve(content), sort_keys=True).encode()).hexdigest()[:8]


def identify_by_content(element: CfnElement, content: object) -> str:
    """Add a digest of a content to the logical id of an element.

    CloudFormation creates the new resource before it updates what needs it, and deletes the old one in the
    clean-up after the update, or after its rollback.

    Args:
        element: What gets the id; whoever asked for its id before has the one without a digest.
        content: As `content_digest` takes it.

    Returns:
        The digest.
    """
    stack = Stack.of(element)
    digest = content_digest(stack, content).upper()
    element.override_logical_id(f"{stack.get_logical_id(element)}{digest}")
    return digest


def lay_over(
    resource: CfnResource, properties: Mapping[str, object], *, model: CfnResource | None = None
) -> None:
    """Override properties by their dotted path, such as `ProductionVariants.0.EnableSSMAccess`.

    Args:
        resource: What they are laid over.
        properties: The values by their paths.
        model: The Model that a spec calls by the logical id which it has in a stack of its own.
    """
    own = Stack.of(model).get_logical_id(model) if model and properties else OWN_MODEL
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
