"""Permissions of each role of a template and who may take it on, as rows to read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tests.synth.resources import join_strings

HASH = r"(?<=\w)[0-9A-F]{8}"
"""What the CDK puts behind a logical id."""


@dataclass(frozen=True, kw_only=True)
class Grant:
    """One statement; what it does not say is empty."""

    sid: str
    effect: str
    principals: tuple[str, ...] = ()
    actions: tuple[str, ...]
    resources: tuple[str, ...] = ()
    conditions: str = ""

    def row(self) -> str:
        cells = [self.actions, self.resources, (self.conditions,)]
        return f"| {self.sid} | {' | '.join('<br>'.join(f'`{item}`' for item in cell if item) for cell in cells)} |"


@dataclass(frozen=True, kw_only=True)
class Role:
    name: str
    trust: tuple[Grant, ...]
    grants: tuple[Grant, ...]
    managed_policies: tuple[str, ...]
    """Policies that others have written."""
    boundary: str
    """The policy that bounds it; empty: none does."""

    def text(self) -> str:
        taken_on = [
            f"Taken on by {', '.join(f'`{principal}`' for principal in trust.principals)}"
            + (f" under `{trust.conditions}`" if trust.conditions else "")
            for trust in self.trust
        ]
        other_texts = [f"Policies of others: {', '.join(f'`{line}`' for line in self.managed_policies)}"]
        texts = [f"Bounded by `{self.boundary}`"] if self.boundary else []
        lines = [*taken_on, *texts, *(other_texts if self.managed_policies else [])]
        head = ["| Statement | Actions | Resources | Conditions |", "|---|---|---|---|"]
        return "\n".join(
            [
                f"### {self.name}",
                "",
                *(f"{line}.\n" for line in lines),
                *head,
                *map(Grant.row, self.grants),
            ]
        )


def roles(template: Mapping[str, Any]) -> list[Role]:
    """All roles of a template, with the policies that name them.

    Raises:
        ValueError: there is something of IAM that would not be seen here.
    """
    resources = template["Resources"]
    unseen = {
        resource["Type"] for resource in resources.values() if resource["Type"].startswith("AWS::IAM::")
    }
    # A provider of identities grants nothing: each role's trust names it.
    if unseen := unseen - {"AWS::IAM::Role", "AWS::IAM::Policy", "AWS::IAM::OIDCProvider"}:
        raise ValueError(f"{unseen} of IAM are not read here")
    granted_actions: dict[str, list[Grant]] = {
        id: [] for id, resource in resources.items() if resource["Type"] == "AWS::IAM::Role"
    }
    for id, resource in resources.items():
        if resource["Type"] == "AWS::IAM::Policy":
            for role in resource["Properties"]["Roles"]:
                granted_actions[role["Ref"]] += role_grants(resource["Properties"]["PolicyDocument"], id)
    return [
        _role(id, resources[id]["Properties"], tuple(statements))
        for id, statements in granted_actions.items()
    ]


def _role(id: str, properties: Mapping[str, Any], grants: tuple[Grant, ...]) -> Role:
    inline = properties.get("Policies", ())
    output = [
        item for policy in inline for item in role_grants(policy["PolicyDocument"], policy["PolicyName"])
    ]
    return Role(
        name=_name(id),
        trust=tuple(role_grants(properties["AssumeRolePolicyDocument"], id)),
        grants=(*grants, *output),
        managed_policies=tuple(
            join_strings(policy_arn) for policy_arn in properties.get("ManagedPolicyArns", ())
        ),
        boundary=join_strings(properties.get("PermissionsBoundary", "")),
    )


def role_grants(document: Mapping[str, Any], policy: str) -> Iterator[Grant]:
    for statement in document["Statement"]:
        principals = statement.get("Principal", {})
        if unread := statement.keys() - {"Sid", "Effect", "Principal", "Action", "Resource", "Condition"}:
            raise ValueError(f"{unread} of a statement of {policy} are not read here")
        yield Grant(
            sid=statement.get("Sid", f"of the CDK, in {_name(policy)}"),
            effect=statement["Effect"],
            principals=tuple(
                f"{kind}: {text}"
                for kind, principal in (
                    {"": principals} if isinstance(principals, str) else principals
                ).items()
                for text in _texts(principal)
            ),
            actions=tuple(_texts(statement["Action"])),
            resources=tuple(_texts(statement.get("Resource", []))),
            conditions=_conditions(statement.get("Condition", {})),
        )


def _texts(values: Any) -> list[str]:
    listed_values = values if isinstance(values, list) else [values]
    return [
        re.sub(HASH + r"(?=(\.\w+)?\})", "", join_strings(listed_value)) for listed_value in listed_values
    ]


def _name(id: str) -> str:
    return re.sub(f"{HASH}$", "", id)


def _conditions(conditions: Mapping[str, Mapping[str, Any]]) -> str:
    return "; ".join(
        f"{operator} {key}: {', '.join(_texts(value))}"
        for operator, keys in conditions.items()
        for key, value in keys.items()
    )
