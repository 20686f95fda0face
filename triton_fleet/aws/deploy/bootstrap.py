"""Whether an account and region have the CDK bootstrap that the templates need."""

from __future__ import annotations

import json
from pathlib import Path

from botocore.exceptions import ClientError

from triton_fleet.aws.access import Access
from triton_fleet.aws.deploy.stack_repair import Notice, ready_stack
from triton_fleet.catalog.cloudformation import StackState

TOOLKIT = "CDKToolkit"
"""The default name of the stack of `cdk bootstrap`; an account may use another."""


def must_bootstrap(access: Access, assembly: Path, notice: Notice = lambda _: None) -> bool:
    """Whether the bootstrap is missing, incomplete, or older than a synthesised stack needs.

    The version is in the parameter that each template names. Waits for a bootstrap in progress.

    Raises:
        CannotRunError: the bootstrap's stack is stuck.
    """
    toolkit = ready_stack(access, TOOLKIT, lambda _: False, notice).stack
    if toolkit is not None and toolkit.state is not StackState.READY:
        return True
    return any(bootstrap_version(access, name) < needed for name, needed in needed_versions(assembly).items())


def needed_versions(assembly: Path) -> dict[str, int]:
    """The bootstrap version that a synthesised assembly's stacks need, by parameter name."""
    artifacts = json.loads((assembly / "manifest.json").read_text())["artifacts"].values()
    needed: dict[str, int] = {}
    for artifact in artifacts:
        properties = artifact.get("properties", {})
        if "bootstrapStackVersionSsmParameter" in properties:
            name = properties["bootstrapStackVersionSsmParameter"]
            needed[name] = max(needed.get(name, 0), properties["requiresBootstrapStackVersion"])
    return needed


def bootstrap_version(access: Access, name: str) -> int:
    """The account's bootstrap version, from a parameter; 0 if the parameter does not exist."""
    try:
        return int(access.client("ssm").get_parameter(Name=name)["Parameter"]["Value"])
    except ClientError as error:
        if error.response["Error"]["Code"] == "ParameterNotFound":
            return 0
        raise
