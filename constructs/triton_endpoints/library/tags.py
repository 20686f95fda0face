"""Tags of what a construct declares: those that conditions of policies go by cannot be replaced."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import Tags
from constructs import Construct

OWN_PREFIX = "triton-fleet:"
OWN_PRIORITY = 1000
"""Above what the CDK gives to tags that are added (100) and removed (200) by the app."""


def tag(construct: Construct, tags: Mapping[str, str]) -> None:
    """Tag everything below a construct; of the app's own keys the app's values win below it, of ours ours."""
    for name, value in tags.items():
        if name.startswith(OWN_PREFIX):
            Tags.of(construct).add(name, value, priority=OWN_PRIORITY)
        else:
            Tags.of(construct).add(name, value)
