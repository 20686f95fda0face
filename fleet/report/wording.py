"""The sentences of a report that its formats have in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fleet.core.sizes import count_of
from fleet.findings import Finding
from fleet.report.cost import signed
from fleet.report.endpoint_change import CostChange, EndpointChange
from fleet.report.traffic import shown_seconds
from fleet.report.update_effect import UpdateEffect
from fleet.selection.executed_files import ExecutedFile
from fleet.upgrade.comparison import Change

GUARD = "Custom::ScalingGuard"
"""What puts scaling aside for an update that changes the instance type."""
MAX_WORDS = 4
"""Changes in a cell of the table; the rest are in the details."""


EXECUTED = "This change edits what a deploy runs"
EXECUTED_HINT = "No template shows what these files do: read them."
MAX_EXECUTED, MIN_EXECUTED = 40, 5
"""Files that are listed, in a short report the second; the others are counted."""
QUOTAS = "Quotas that these endpoints alone may use; `fleet preflight` compares them with the account:"
EFFECTS = {
    UpdateEffect.UNKNOWN: "**cannot be compared**",
    UpdateEffect.REPLACED: "**endpoint replaced**: interrupts",
    UpdateEffect.REMOVED: "nothing until `fleet destroy`, then **endpoint removed**",
    UpdateEffect.CREATED: "endpoint created",
    UpdateEffect.NOTHING: "nothing",
}


def executed_lines(files: Sequence[ExecutedFile], limit: int) -> Iterator[str]:
    """A line for each file that a deploy may execute, up to a limit, and the number of the others."""
    for each in files[:limit]:
        path = each.path.replace("`", "'")
        yield f"`{path}`: {each.what} ({each.change})"
    if len(files) > limit:
        folders = dict.fromkeys(each.path.partition("/")[0] for each in files[limit:])
        yield f"and {count_of(len(files) - limit, 'more file')} in or below: {', '.join(folders)}"


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
    sign = "" if certain else "~"
    text = f"{sign}{cost.after.monthly:,}"
    if cost.difference is None or not cost.difference.hourly:
        return text
    share = (
        f", {'−' if cost.percent < 0 else '+'}{abs(cost.percent)} %"
        if percent and cost.percent is not None
        else ""
    )
    return f"{text} ({sign}{signed(cost.difference)}{share})"


def need_words(each: EndpointChange) -> str:
    """The instances that AWS has to have; empty where no more are needed."""
    need = each.need
    if need is None:
        return ""
    if not need.beside:
        return f"{each.endpoint} may reach {need.most} × {need.type}"
    beside = "" if each.effect is UpdateEffect.CREATED else " beside the old fleet"
    later = f", up to {need.most} later" if need.most > need.beside else ""
    return f"{each.endpoint} needs {need.beside} × {need.type}{beside}{later}"


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


def resource_line(change: Change) -> str:
    """What CloudFormation does to one resource."""
    properties = f" ({', '.join(change.properties)})" if change.properties else ""
    return f"{change.effect:<8} {change.type} {change.logical_id}{properties}"
