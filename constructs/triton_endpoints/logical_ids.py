"""Names and logical ids that follow from a content, so that another content is another resource."""

from __future__ import annotations

import json
from hashlib import sha256

from aws_cdk import CfnElement, Stack


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
