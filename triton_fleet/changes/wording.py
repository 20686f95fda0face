"""The sentences of a report that its formats have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from triton_fleet.catalog.prices import price_sign
from triton_fleet.changes.endpoint_change import EndpointChange
from triton_fleet.changes.endpoint_group import EndpointGroup
from triton_fleet.changes.money_change import CostChange, signed
from triton_fleet.changes.templates import Change
from triton_fleet.changes.update_effect import UpdateEffect
from triton_fleet.context.traffic import shown_seconds
from triton_fleet.findings import Finding

GUARD = "Custom::ScalingGuard"
"""What puts scaling aside for an update that changes the instance type."""
MAX_WORDS = 4
"""Changes in a cell of the table; the rest are in the details."""


QUOTAS = "Quotas that these endpoints alone may use; `fleet preflight` compares them with the account:"
EFFECTS = {
    UpdateEffect.UNKNOWN: "**cannot be compared**",
    UpdateEffect.REPLACED: "**endpoint replaced**: interrupts",
    UpdateEffect.REMOVED: "nothing until `fleet destroy`, then **endpoint removed**",
    UpdateEffect.CREATED: "endpoint created",
    UpdateEffect.NOTHING: "nothing",
}


def effect_words(each: EndpointChange) -> str:
    """What AWS does, in Markdown."""
    if each.effect is UpdateEffect.CONFIGURATION:
        return f"new {'model and ' * each.new_model}configuration, **endpoint stays**"
    if each.effect is UpdateEffect.IN_PLACE:
        return f"in place: {', '.join(each.areas)}" if each.areas else "in place"
    return EFFECTS[each.effect]


def effect_text(each: EndpointChange) -> str:
    """The same without markup."""
    return effect_words(each).replace("**", "").replace("`", "")


def traffic_words(each: EndpointChange) -> str:
    """What happens to calls."""
    if each.traffic is not None:
        return each.traffic.words
    return {
        UpdateEffect.UNKNOWN: "unknown",
        UpdateEffect.REPLACED: "interrupted",
        UpdateEffect.REMOVED: "ends then",
        UpdateEffect.CREATED: "none yet",
    }.get(each.effect, "not touched")


def money(cost: CostChange, *, certain: bool, percent: bool = True) -> str:
    """A month's cost afterwards with its difference; `~` before what no source states for the region."""
    if cost.after is None:
        return "unknown"
    sign = price_sign(certain=certain)
    text = f"{sign}{cost.after.monthly:,}"
    if cost.difference is None:
        return f"{text} (before: unknown)"
    if not cost.difference.hourly:
        return text
    share = (
        f", {'−' if cost.percent < 0 else '+'}{abs(cost.percent)} %"
        if percent and cost.percent is not None
        else ""
    )
    return f"{text} ({sign}{signed(cost.difference)}{share})"


def group_money(group: EndpointGroup, *, least: bool) -> str:
    """The sum of a group's costs afterwards, with that of the differences and the difference of one."""
    cost, each = (group.common.least, group.each_least) if least else (group.common.most, group.each_most)
    text = money(cost, certain=group.common.certain_price, percent=least)
    if each is None:
        return text
    low, high = (f"{price_sign(certain=group.common.certain_price)}{signed(cost)}" for cost in each)
    return f"{text}, {low if low == high else f'{low} to {high}'} each"


def need_words(subject: str, endpoints: Sequence[EndpointChange]) -> str:
    """The instances of one type that AWS has to have for endpoints of one kind.

    Args:
        subject: Their name, or their number.
        endpoints: Those that need some.
    """
    needs = [endpoint.need for endpoint in endpoints if endpoint.need]
    machine, each = needs[0].type, " each" * (len(needs) > 1)
    beside, most = _range([one.beside for one in needs]), _range([one.most for one in needs])
    if not needs[0].beside:
        return f"{subject} may reach {most} × {machine}{each}"
    old = "" if endpoints[0].effect is UpdateEffect.CREATED else " beside the old fleet"
    later = f", up to {most} later" if any(one.most > one.beside for one in needs) else ""
    return f"{subject} need{'s' * (len(needs) == 1)} {beside} × {machine}{each}{old}{later}"


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low}" if low == high else f"{low} to {high}"


def finding_line(finding: Finding) -> str:
    """A finding on one line."""
    place = f"{finding.place}: " if finding.place else ""
    message = "(not shown)" if finding.confidential else finding.message
    return f"{place}{finding.severity} {finding.code}: {message}"


def detail_lists(each: EndpointChange) -> Iterator[tuple[str, Sequence[str]]]:
    """The title of each part of an endpoint's details, with its lines."""
    rest = [*each.changes, *each.content][MAX_WORDS:]
    if rest:
        yield "more changes", rest
    if each.built:
        yield "built before the deploy", each.built
    if each.traffic is not None:
        shortest, longest = each.traffic.shortest, each.traffic.longest
        times = [f"waits {shown_seconds(shortest)} besides the start of instances"] if shortest else []
        times += [f"at most {shown_seconds(longest)}"] if longest else []
        if times:
            yield "rollout", ["; ".join(times)]
    guarded = {name for one in each.resources if one.type == GUARD for name in one.properties}
    if each.is_scaled and "InstanceType" in guarded:
        yield "scaling", ["deregistered for the update, and restored after it"]
    elif each.is_scaled and "EndpointConfigName" in guarded:
        yield "scaling", ["suspended during the update, resumed after it"]
    if each.effect is UpdateEffect.REMOVED:
        yield "IAM", ["the endpoint's role is deleted with it"]
    elif each.permissions:
        yield "IAM", each.permissions
    alarms = [one for one in each.resources if one.type.endswith("Alarm")]
    if alarms:
        effects = sorted({one.effect for one in alarms})
        yield "alarms", [f"{sum(one.effect is kind for one in alarms)} {kind}" for kind in effects]
    if each.effect is not UpdateEffect.REMOVED:
        yield "reverted by", [f"`{each.rollback}`"]


def group_details(group: EndpointGroup) -> Iterator[tuple[str, Sequence[str]]]:
    """The same of a group, each part once; the number of those that have it where not all do."""

    def parts(each: EndpointChange) -> Iterator[tuple[str, tuple[str, ...]]]:
        return ((title, tuple(texts)) for title, texts in detail_lists(each))

    for (title, texts), count in group.variants(parts).items():
        yield f"{title}{_share(group, count)}", texts


def resource_blocks(group: EndpointGroup) -> Iterator[tuple[str, Sequence[str]]]:
    """The changes of resources of a group's endpoints that exist before and after."""

    def blocks(each: EndpointChange) -> Iterator[tuple[str, ...]]:
        if each.resources and each.effect not in (UpdateEffect.CREATED, UpdateEffect.REMOVED):
            yield tuple(map(resource_line, each.resources))

    for lines, count in group.variants(blocks).items():
        yield _share(group, count).strip(), lines


def _share(group: EndpointGroup, count: int) -> str:
    return f" ({count} of {len(group.members)})" * (count < len(group.members))


def resource_line(change: Change) -> str:
    """What CloudFormation does to one resource."""
    properties = f" ({', '.join(change.properties)})" if change.properties else ""
    return f"{change.effect:<8} {change.type} {change.logical_id}{properties}"
