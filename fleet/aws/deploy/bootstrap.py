"""Whether an account and region are prepared for the CDK, as the templates need it."""

from __future__ import annotations

import json
from pathlib import Path

from botocore.exceptions import ClientError

from fleet.aws.access import Access
from fleet.aws.deploy.stack_repair import Notice, ready_stack
from fleet.catalog.stack_statuses import StackState

TOOLKIT = "CDKToolkit"
"""The name that `cdk bootstrap` gives its stack; an account may have it under another."""


def must_bootstrap(access: Access, assembly: Path, notice: Notice = lambda _: None) -> bool:
    """Whether the bootstrap is missing, incomplete, or older than a synthesised stack needs it.

    The version is the parameter that each template names; a bootstrap under way is waited for.

    Raises:
        CannotRunError: its stack is stuck.
    """
    toolkit = ready_stack(access, TOOLKIT, lambda _: False, notice)
    if toolkit is not None and toolkit.state is not StackState.READY:
        return True
    return any(bootstrap_version(access, name) < needed for name, needed in needed_versions(assembly).items())


def needed_versions(assembly: Path) -> dict[str, int]:
    """The version that a synthesised assembly's stacks need, by the parameter that holds it."""
    artifacts = json.loads((assembly / "manifest.json").read_text())["artifacts"].values()
    needed: dict[str, int] = {}
    for artifact in artifacts:
        properties = artifact.get("properties", {})
        if "bootstrapStackVersionSsmParameter" in properties:
            name = properties["bootstrapStackVersionSsmParameter"]
            needed[name] = max(needed.get(name, 0), properties["requiresBootstrapStackVersion"])
    return needed


def bootstrap_version(access: Access, name: str) -> int:
    """The account's version, which a parameter of that name holds; 0 where it has none."""
    try:
        return int(access.client("ssm").get_parameter(Name=name)["Parameter"]["Value"])
    except ClientError as error:
        if error.response["Error"]["Code"] == "ParameterNotFound":
            return 0
        raise
