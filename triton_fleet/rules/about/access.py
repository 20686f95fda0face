"""Rules about who may call an endpoint."""

from __future__ import annotations

from collections.abc import Iterator

from triton_fleet.context.context import EndpointContext
from triton_fleet.rules.rule import Problem, rule


@rule("FL570", source="docs/security.md", needed=True)
def disallowed_invoker(endpoint: EndpointContext) -> Iterator[Problem]:
    """The roles that may call an endpoint are of accounts that the environment allows.

    A spec could otherwise let any account call its models. The environment's `allowed_invokers` names
    accounts and roles; without it, all roles of the environment's own account are allowed.
    """
    environment = endpoint.environment
    if environment.is_local:
        return
    allowed = set[object](environment.allowed_invokers or ())
    if environment.allowed_invokers is None:
        allowed.add(environment.account)
    for own in environment.own_values(endpoint.spec.endpoint, "access", "invokers"):
        allowed.update(map(str, own) if isinstance(own, list) else ())
    for index, invoker in enumerate(endpoint.spec.access.invokers):
        account = invoker.split(":")[4]
        if not allowed & {invoker, account}:
            message = f"{invoker} is a role of account {account}, and the environment does not allow it"
            hint = environment.allowance_hint("allowed_invokers")
            yield Problem(("access", "invokers", index), message, hint)
