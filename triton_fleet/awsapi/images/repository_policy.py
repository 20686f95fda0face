"""Whether the policy of a repository in another account lets an account pull, and with it the roles there.

A role needs both: what its own policy grants, and that of the repository. Source: ECR user guide,
repository-policies.html; IAM user guide, "Cross-account policy evaluation logic".
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any

from botocore.exceptions import ClientError

from triton_fleet.awsapi.images.reference import ImageReference

PULL = ("ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer")
UNREADABLE = {"AccessDeniedException", "RepositoryPolicyNotFoundException"}


class RolePull(StrEnum):
    """The answer whether a role may pull."""

    YES = "the repository's policy lets roles of this account pull"
    NO = "the repository's policy names no principal of this account that may pull"
    CONDITIONAL = "the repository's policy lets roles of this account pull under conditions"
    UNKNOWN = "whether the endpoint's role may pull it is not known: its policy cannot be read"


def role_pull(ecr: Any, image: ImageReference, account: str) -> RolePull:
    """Whether roles of an account may pull an image of another account.

    Raises:
        ClientError: ECR refuses for another reason than a policy.
    """
    try:
        answer = ecr.get_repository_policy(registryId=image.account, repositoryName=image.repository)
    except ClientError as error:
        if error.response["Error"]["Code"] in UNREADABLE:
            return RolePull.UNKNOWN
        raise
    policy = answer["policyText"]
    if lets_roles_pull(policy, account):
        return RolePull.YES
    return RolePull.CONDITIONAL if lets_roles_pull(policy, account, conditions=True) else RolePull.NO


def lets_roles_pull(policy: str, account: str, *, conditions: bool = False) -> bool:
    """Whether a policy lets the whole account, or a role of it, do all that a pull needs.

    Args:
        policy: Its text; one that is not JSON lets nobody.
        account: The account.
        conditions: Whether statements with conditions count, which nobody evaluates here.
    """
    try:
        document = json.loads(policy)
    except ValueError:
        return False
    statements = _as_list(document.get("Statement") if isinstance(document, Mapping) else None)
    actions = {
        action
        for statement in statements
        if isinstance(statement, Mapping) and statement.get("Effect") == "Allow"
        if conditions or not statement.get("Condition")
        if any(
            principal in ("*", account) or f":iam::{account}:" in principal
            for principal in _principals(statement)
        )
        for action in PULL
        if any(
            fnmatchcase(action.lower(), str(pattern).lower()) for pattern in _as_list(statement.get("Action"))
        )
    }
    return actions == set(PULL)


def _principals(statement: Mapping[str, Any]) -> Iterator[str]:
    principal = statement.get("Principal")
    principals = principal.get("AWS") if isinstance(principal, Mapping) else principal
    yield from map(str, _as_list(principals))


def _as_list(value: object) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
