"""Rules about the raw properties of `cloudformation` that would replace what the spec sets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from triton_fleet.catalog.api_ledger import Decision, Member, ledger
from triton_fleet.context.context import EndpointContext
from triton_fleet.context.raw import is_intrinsic, raw_properties
from triton_fleet.rules.raw import RESOURCES, WHOLES, outermost, value_text
from triton_fleet.rules.rule import Problem, rule

OVERRIDES = "https://docs.aws.amazon.com/cdk/v2/guide/cfn-layer.html"


@rule("FL263", source="docs/check.md")
def raw_property_with_own_key(endpoint: EndpointContext) -> Iterator[Problem]:
    """No raw property sets what a key of the spec sets.

    Rules, scaling, the dashboard and `fleet show` rely on the spec, and would describe another endpoint than
    the deployed one. For a host image and for time-outs this is only a warning. An endpoint has one model
    with one container.
    """
    for resource in RESOURCES:
        settled = list(
            outermost(endpoint, resource, _decided_members(resource, Decision.REFUSED, Decision.OURS))
        )
        for raw, member in outermost(endpoint, resource, _decided_members(resource, Decision.KEY)):
            if any(each.path[: len(raw.path)] == raw.path for each, _ in settled):
                continue  # reported below: no key can set it
            message = f"the raw property {raw.name} sets what `{member.key}` sets"
            yield Problem(raw.path, message, f"write `{member.key}` instead", certain=not member.checked)
        for raw, member in settled:
            yield Problem(raw.path, f"{raw.name} must not be set: {member.why}", "leave it out")


@rule("FL298", source=OVERRIDES)
def raw_list_replacement(endpoint: EndpointContext) -> Iterator[Problem]:
    """No raw value replaces the whole variant or the whole container.

    CDK merges a mapping into the template, but a list, a single value or an intrinsic function replaces what
    is in it: the spec's model, instance type and count are lost.
    """
    for resource, names in WHOLES.items():
        for raw in raw_properties(endpoint.spec, resource):
            replaces = not isinstance(raw.value, Mapping) or is_intrinsic(raw.value)
            if raw.name in names and replaces and (raw.value is not None or raw.takes_out):
                below = f"{raw.name}.0" if raw.name == "ProductionVariants" else raw.name
                what = "a list" if isinstance(raw.value, list | tuple) else value_text(raw.value)
                message = f"{what} for {raw.name} replaces everything that the spec sets there"
                yield Problem(raw.path, message, f"write `{below}.KEY` for each key to change")


@cache
def _decided_members(resource: str, *decisions: Decision) -> Mapping[str, Member]:
    return {
        path: each
        for path, each in ledger(resource).items()
        if each.decision in decisions and not (each.rule or each.inside)
    }
