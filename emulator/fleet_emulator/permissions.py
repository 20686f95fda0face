"""What a role of the embedded IAM may do: its policies, evaluated for one action.

moto's own evaluation takes an Allow whose condition does not hold for a Deny, knows neither StringLike nor
permissions boundaries, and looks for roles by the keys of who calls. Source of the rules: IAM user guide,
policy evaluation logic, and elements Action, Resource and Condition.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from moto.iam.models import ManagedPolicy, Role, iam_backends

from fleet_emulator.process_state import turn

Statement: TypeAlias = Mapping[str, Any]
Context: TypeAlias = Mapping[str, str | None]

_ROLE = re.compile(r"arn:(?P<partition>[^:]+):iam::(?P<account>\d{12}):role/.+")
_OPERATOR = re.compile(r"String(?P<negated>Not)?(?P<kind>Equals|Like)(?P<if_exists>IfExists)?")


def may_put_metrics(role_arn: str, namespace: str) -> bool:
    """Whether a role may publish metrics in a namespace. Whoever calls must not hold a turn."""
    with turn():
        return is_allowed(role_arn, "cloudwatch:PutMetricData", {"cloudwatch:namespace": namespace})


def is_allowed(role_arn: str, action: str, context: Context, *, resource: str = "*") -> bool:
    """Whether a role's policies allow an action, and none of them denies it.

    A permissions boundary has to allow it too, where the embedded IAM has that policy. A condition by another
    operator or on a key that `context` lacks keeps no Allow from holding, and has no Deny hold.

    Args:
        role_arn: A role that does not exist may do nothing.
        action: As policies name it, `cloudwatch:PutMetricData`.
        context: The call's values by condition key in lower case; None for a key that the call does not have.
        resource: An ARN; `*` for an action that knows no resources.
    """
    named = _ROLE.fullmatch(role_arn)
    if named is None:
        return False
    backend = iam_backends[named["account"]][named["partition"]]
    role = next((role for role in backend.roles.values() if role.arn == role_arn), None)
    if role is None:
        return False
    call = (action, resource, context)
    boundary = backend.managed_policies.get(role.permissions_boundary_arn or "")
    return _allow(_documents(role), *call) and (boundary is None or _allow([_default(boundary)], *call))


def _documents(role: Role) -> list[str]:
    return [*role.policies.values(), *map(_default, role.managed_policies.values())]


def _default(policy: ManagedPolicy) -> str:
    return next(
        str(version.document)
        for version in policy.versions
        if version.version_id == policy.default_version_id
    )


def _allow(documents: list[str], action: str, resource: str, context: Context) -> bool:
    effects = {
        statement["Effect"]
        for statement in statements(documents)
        if _names(statement, "Action", action, re.IGNORECASE)
        and _names(statement, "Resource", resource)
        and _holds(statement, context)
    }
    return effects == {"Allow"}


def statements(documents: Iterable[str]) -> Iterator[Statement]:
    """The statements of policies, given as JSON."""
    for document in documents:
        yield from values_of(json.loads(document)["Statement"])


def _names(statement: Statement, element: str, value: str, flags: int = 0) -> bool:
    excluded = f"Not{element}"
    if excluded in statement:
        return not any(_like(value, each, flags) for each in values_of(statement[excluded]))
    return any(_like(value, each, flags) for each in values_of(statement[element]))


def _holds(statement: Statement, context: Context) -> bool:
    unknown = statement["Effect"] == "Allow"
    return all(
        _meets(operator, key.lower(), [str(each) for each in values_of(wanted)], context, unknown=unknown)
        for operator, keys in statement.get("Condition", {}).items()
        for key, wanted in keys.items()
    )


def _meets(operator: str, key: str, wanted: list[str], context: Context, *, unknown: bool) -> bool:
    parts = _OPERATOR.fullmatch(operator)
    if parts is None or key not in context:
        return unknown
    value, negated = context[key], parts["negated"] is not None
    if value is None:
        return negated or parts["if_exists"] is not None
    meets = value in wanted if parts["kind"] == "Equals" else any(_like(value, each) for each in wanted)
    return meets is not negated


def _like(value: str, pattern: str, flags: int = 0) -> bool:
    """Whether a value is of a pattern, in which `*` is any characters and `?` one."""
    expression = re.escape(pattern).replace(r"\*", ".*").replace(r"\?", ".")
    return re.fullmatch(expression, value, flags | re.DOTALL) is not None


def values_of(value: Any) -> list[Any]:
    """The values that a policy writes as one or as a list."""
    return value if isinstance(value, list) else [value]
