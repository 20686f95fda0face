"""Policies as data: a statement is written once, for the template and for what is acknowledged of it.

CloudFormation's own policy in place of the CDK's: nothing is granted by other constructs, and each call of a
richer class costs time in every synth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from aws_cdk import aws_iam as iam
from constructs import Construct

from triton_endpoints.acknowledgements import acknowledge_wildcards
from triton_endpoints.logical_ids import identify_by_content
from triton_endpoints.wildcards import Wildcard
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.environment import ENVIRONMENT_TAG


@dataclass(frozen=True, kw_only=True)
class Statement:
    """An Allow: actions on resources, under conditions."""

    sid: str
    actions: Sequence[str]
    resources: Sequence[str]
    conditions: Mapping[str, Any] | None = None

    @property
    def json(self) -> dict[str, Any]:
        """As a policy document has it; a list of one is that one."""
        conditions = {"Condition": self.conditions} if self.conditions else {}
        return {
            "Sid": self.sid,
            "Effect": "Allow",
            "Action": _value_or_list(self.actions),
            "Resource": _value_or_list(self.resources),
            **conditions,
        }


def use_key(deployment: Deployment, *actions: str) -> list[Statement]:
    """The use of the artifact bucket's key, if there is one, by S3 alone: no one decrypts with it directly.

    Source: KMS developer guide, conditions-kms.html, kms:ViaService.
    """
    return use_key_of(deployment, "UseKey", deployment.bucket_key, *actions)


def use_key_of(deployment: Deployment, sid: str, key: str | None, *actions: str) -> list[Statement]:
    """The same of another key; nothing without one."""
    if not key:
        return []
    # For China no page documents which of both names S3 has; both are S3's own.
    names = [
        f"s3.{deployment.region}.{dns}" for dns in dict.fromkeys((deployment.partition.dns, "amazonaws.com"))
    ]
    through_s3 = {"StringEquals": {"kms:ViaService": _value_or_list(names)}}
    return [Statement(sid=sid, actions=actions, resources=[key], conditions=through_s3)]


def spare_other_environments(deployment: Deployment) -> dict[str, Any]:
    """The condition that a resource has no tag of another environment.

    What has no tag passes, and what does not exist: for that AWS answers "could not find", on which the
    functions rely, and not that access is denied.
    """
    return {"StringEqualsIfExists": {f"aws:ResourceTag/{ENVIRONMENT_TAG}": deployment.environment}}


def policy_of(
    scope: Construct,
    id: str,
    *,
    role_name: str,
    statements: Sequence[Statement],
    further: Sequence[Wildcard] = (),
) -> iam.CfnPolicy:
    """An inline policy of a role; its wildcards are acknowledged where they are meant, as `further` are."""
    policy = iam.CfnPolicy(
        scope,
        id,
        policy_name=id,
        roles=[role_name],
        policy_document=document([statement.json for statement in statements]),
    )
    acknowledge_wildcards(
        policy, [(statement.actions, statement.resources) for statement in statements], further
    )
    return policy


def lasting_policy(
    scope: Construct,
    id: str,
    *,
    role: str | iam.IRole,
    statements: Sequence[Statement],
    further: Sequence[Wildcard] = (),
) -> iam.CfnPolicy:
    """An inline policy that grants until the clean-up of the update that changes it.

    Its name and its logical id follow from what it grants. So another policy is added before the endpoint is
    updated, and this one removed after that: meanwhile the role has both, for the old fleet and the new one.
    A role is named, or it is a construct, which attaches the policy itself if it can.
    """
    if isinstance(role, str):
        policy = policy_of(scope, id, role_name=role, statements=statements, further=further)
    else:
        policy = _attached_policy(scope, id, role, statements)
        acknowledge_wildcards(
            policy, [(statement.actions, statement.resources) for statement in statements], further
        )
    # A policy of the same name would be overwritten, and then deleted.
    body = document([statement.json for statement in statements])
    policy.policy_name = f"{id}-{identify_by_content(policy, body)}"
    return policy


def _attached_policy(
    scope: Construct, id: str, role: iam.IRole, statements: Sequence[Statement]
) -> iam.CfnPolicy:
    """A policy that is declared only if the role takes it: one that is imported as immutable does not."""
    body = iam.PolicyDocument.from_json(document([statement.json for statement in statements]))
    policy = iam.Policy(scope, id, document=body)
    role.attach_inline_policy(policy)
    resource = policy.node.default_child
    assert isinstance(resource, iam.CfnPolicy)  # noqa: S101 (the CDK declares it)
    return resource


def service_role(
    scope: Construct,
    id: str,
    *,
    service: str,
    deployment: Deployment,
    description: str,
    statements: Sequence[Statement],
) -> iam.CfnRole:
    """A role that one of AWS's services assumes for this account alone, with its policy."""
    trust = service_trust(service, deployment)
    role = iam.CfnRole(scope, id, assume_role_policy_document=trust, description=description)
    policy_of(scope, f"{id}Policy", role_name=role.ref, statements=statements)
    return role


def service_trust(service: str, deployment: Deployment) -> dict[str, Any]:
    """The trust policy of a role that one of AWS's services assumes for this account alone."""
    statement = {
        "Action": "sts:AssumeRole",
        "Effect": "Allow",
        "Principal": {"Service": f"{service}.amazonaws.com"},
        "Condition": {"StringEquals": {"aws:SourceAccount": deployment.account}},
    }
    return document([statement])


def document(statements: list[dict[str, Any]]) -> dict[str, Any]:
    """A policy document."""
    return {"Version": "2012-10-17", "Statement": statements}


def _value_or_list(values: Sequence[str]) -> str | list[str]:
    return values[0] if len(values) == 1 else list(values)
