"""The sentences of a report that its formats have in common, each once with the endpoints it is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from triton_fleet.catalog.prices import price_sign
from triton_fleet.changes.endpoint_change import EndpointChange
from triton_fleet.changes.endpoint_group import MAX_NAMES, EndpointGroup, label, names_by_owner, without_name
from triton_fleet.changes.money_change import CostChange, signed_cost
from triton_fleet.changes.templates import Change
from triton_fleet.changes.update_effect import UpdateEffect
from triton_fleet.context.traffic import shown_seconds
from triton_fleet.core.formats import count_of
from triton_fleet.findings import Finding, Severity

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


def effect_words(endpoint: EndpointChange) -> str:
    """The effect in AWS, in Markdown."""
    if endpoint.effect is UpdateEffect.CONFIGURATION:
        return f"new {'model and ' * endpoint.new_model}configuration, **endpoint stays**"
    if endpoint.effect is UpdateEffect.IN_PLACE:
        return f"in place: {', '.join(endpoint.areas)}" if endpoint.areas else "in place"
    return EFFECTS[endpoint.effect]


def effect_text(endpoint: EndpointChange) -> str:
    """The same without markup."""
    return effect_words(endpoint).replace("**", "").replace("`", "")


def traffic_words(endpoint: EndpointChange) -> str:
    """The effect on calls."""
    if endpoint.traffic is not None:
        return endpoint.traffic.words
    return {
        UpdateEffect.UNKNOWN: "unknown",
        UpdateEffect.REPLACED: "interrupted",
        UpdateEffect.REMOVED: "ends then",
        UpdateEffect.CREATED: "none yet",
    }.get(endpoint.effect, "not touched")


def money(cost: CostChange, *, certain: bool, percent: bool = True) -> str:
    """A month's cost afterwards with its difference; `~` before what no source states for the region."""
    if cost.after is None:
        return "unknown"
    sign = price_sign(certain=certain)
    text = f"{sign}{cost.after.per_month:,}"
    if cost.difference is None:
        return f"{text} (before: unknown)"
    if not cost.difference.per_hour:
        return text
    share = (
        f", {'−' if cost.percent < 0 else '+'}{abs(cost.percent)} %"
        if percent and cost.percent is not None
        else ""
    )
    return f"{text} ({sign}{signed_cost(cost.difference)}{share})"


def group_money(group: EndpointGroup, *, is_min: bool) -> str:
    """The sum of a group's costs afterwards, with that of the differences and the difference of one."""
    cost = attrgetter("min_cost" if is_min else "max_cost")
    text = money(cost(group.common), certain=group.common.certain_price, percent=is_min)
    difference_range = group.difference_range(cost)
    if difference_range is None:
        return text
    sign = price_sign(certain=group.common.certain_price)
    low, high = (f"{sign}{signed_cost(difference)}" for difference in difference_range)
    return f"{text}, {low if low == high else f'{low} to {high}'} each"


def need_words(subject: str, endpoints: Sequence[EndpointChange]) -> str:
    """The instances of one type that AWS has to have for endpoints of one kind.

    Args:
        subject: Their name, or their number.
        endpoints: Those that need some.
    """
    needs = [endpoint.need for endpoint in endpoints if endpoint.need]
    machine, suffix = needs[0].type, " each" * (len(needs) > 1)
    beside, maximum = _range([need.beside for need in needs]), _range([need.max_instances for need in needs])
    if not needs[0].beside:
        return f"{subject} may reach {maximum} × {machine}{suffix}"
    old = "" if endpoints[0].effect is UpdateEffect.CREATED else " beside the old fleet"
    later = f", up to {maximum} later" if any(need.max_instances > need.beside for need in needs) else ""
    return f"{subject} need{'s' * (len(needs) == 1)} {beside} × {machine}{suffix}{old}{later}"


def _range(numbers: Sequence[int]) -> str:
    low, high = min(numbers), max(numbers)
    return f"{low}" if low == high else f"{low} to {high}"


def finding_line(finding: Finding) -> str:
    """A finding on one line."""
    place = f"{finding.place}: " if finding.place else ""
    message = "(not shown)" if finding.confidential else finding.message
    return f"{place}{finding.severity} {finding.code}: {message}"


def detail_lists(endpoint: EndpointChange) -> Iterator[tuple[str, Sequence[str]]]:
    """The title of each part of an endpoint's details, with its lines."""
    rest = [*endpoint.changes, *endpoint.content][MAX_WORDS:]
    if rest:
        yield "more changes", rest
    if endpoint.builds:
        yield "built before the deploy", endpoint.builds
    if endpoint.traffic is not None:
        shortest, longest = endpoint.traffic.shortest, endpoint.traffic.longest
        times = [f"waits {shown_seconds(shortest)} besides the start of instances"] if shortest else []
        times += [f"at most {shown_seconds(longest)}"] if longest else []
        if times:
            yield "rollout", ["; ".join(times)]
    guard_properties = {
        name for resource in endpoint.resources if resource.type == GUARD for name in resource.properties
    }
    if endpoint.is_scaled and "InstanceType" in guard_properties:
        yield "scaling", ["deregistered for the update, and restored after it"]
    elif endpoint.is_scaled and "EndpointConfigName" in guard_properties:
        yield "scaling", ["suspended during the update, resumed after it"]
    if endpoint.effect is UpdateEffect.REMOVED:
        yield "IAM", ["the endpoint's role is deleted with it"]
    elif endpoint.permissions:
        yield "IAM", endpoint.permissions
    alarms = [resource for resource in endpoint.resources if resource.type.endswith("Alarm")]
    if alarms:
        effects = sorted({resource.effect for resource in alarms})
        yield "alarms", [f"{sum(resource.effect is kind for resource in alarms)} {kind}" for kind in effects]
    if endpoint.effect is not UpdateEffect.REMOVED:
        yield "reverted by", [f"`{endpoint.rollback}`"]


def group_details(group: EndpointGroup) -> Iterator[tuple[str, Sequence[str]]]:
    """The same of a group, each part once; the number of those that have it where not all do."""

    def parts(change: EndpointChange) -> Iterator[tuple[str, tuple[str, ...]]]:
        return ((title, tuple(texts)) for title, texts in detail_lists(change))

    for (title, texts), count in group.variants(parts).items():
        yield f"{title}{_share(group, count)}", texts


def resource_blocks(group: EndpointGroup) -> Iterator[tuple[str, Sequence[str]]]:
    """The changes of resources of a group's endpoints that exist before and after."""

    def blocks(change: EndpointChange) -> Iterator[tuple[str, ...]]:
        if change.resources and change.effect not in (UpdateEffect.CREATED, UpdateEffect.REMOVED):
            yield tuple(map(resource_line, change.resources))

    for lines, count in group.variants(blocks).items():
        yield _share(group, count).strip(), lines


def _share(group: EndpointGroup, count: int) -> str:
    return f" ({count} of {len(group.members)})" * (count < len(group.members))


def resource_line(change: Change) -> str:
    """The change of one resource."""
    properties = f" ({', '.join(change.properties)})" if change.properties else ""
    return f"{change.effect:<8} {change.type} {change.logical_id}{properties}"


@dataclass(frozen=True, kw_only=True)
class RepeatedLine:
    """A text about endpoints; `names` are several of them by owner where no row lists the same ones."""

    text: str
    names: tuple[str, ...] = ()


class RepeatedLines:
    """The lines about the endpoints of an environment, whose groups are listed already."""

    def __init__(self, groups: Sequence[EndpointGroup]) -> None:
        self._members = [member for group in groups for member in group.members]
        self._owners = {member.endpoint: member.owner for member in self._members}
        self._names_of_rows = {frozenset(group.names) for group in groups}

    def warnings(self) -> Iterator[RepeatedLine]:
        """The warnings for a reviewer before the merge."""
        texts = defaultdict[tuple[bool, str], list[tuple[EndpointChange, str]]](list)
        needs = defaultdict[tuple[str, bool, bool], list[EndpointChange]](list)
        for member in self._members:
            for text in filter(None, (member.problem, *member.warnings)):
                texts[text is member.problem, without_name(text, member.endpoint)].append((member, text))
            if member.need:
                is_new = member.effect is UpdateEffect.CREATED
                needs[member.need.type, bool(member.need.beside), is_new].append(member)
        for (is_problem, common), entries in texts.items():
            members = [change for change, _ in entries]
            text = common if len(members) > 1 else entries[0][1]
            subject = self._label(members)
            if is_problem:
                text = f"{subject} cannot be compared: {text}"
            elif len(members) > 1:
                text = f"{subject}: {text}"
            yield self._line(members, text)
        for members in needs.values():
            words = need_words(self._label(members), members)
            yield RepeatedLine(text=f"{words}: `{_preflight(members)}`")

    def findings(self, findings: Iterable[Finding]) -> Iterator[str]:
        """A line for each, the endpoints below it where there are several."""
        by_text = defaultdict[tuple[str, Severity, str, bool], list[tuple[Finding, tuple[str, ...]]]](list)
        for finding in findings:
            names = finding.endpoints or self._names_of_file(finding)
            message = without_name(finding.message, names[0]) if len(names) == 1 else finding.message
            by_text[finding.code, finding.severity, message, finding.confidential].append((finding, names))
        for (_, _, message, _), same in by_text.items():
            names = tuple(dict.fromkeys(name for _, several in same for name in several))
            if len(names) < 2:
                yield from (finding_line(entry) for entry, _ in same)
                continue
            more = f" (and {count_of(len(same) - 1, 'more place')})" * (len(same) > 1)
            first = replace(same[0][0], message=message)
            yield f"{finding_line(first)}{more}: {label(names, self._owners)}"
            yield from (f"  {line}" for line in self._names(names))

    def _names_of_file(self, finding: Finding) -> tuple[str, ...]:
        """The endpoint whose spec or lock a file is, by its name."""
        name = finding.file.name.partition(".")[0] if finding.file else ""
        return (name,) if name in self._owners else ()

    def _label(self, members: Sequence[EndpointChange]) -> str:
        return label([member.endpoint for member in members], self._owners)

    def _line(self, members: Sequence[EndpointChange], text: str) -> RepeatedLine:
        return RepeatedLine(text=text, names=self._names([member.endpoint for member in members]))

    def _names(self, names: Sequence[str]) -> tuple[str, ...]:
        if len(names) <= MAX_NAMES or frozenset(names) in self._names_of_rows:
            return ()
        return names_by_owner(names, self._owners)


def _preflight(members: Sequence[EndpointChange]) -> str:
    arguments = "".join(f" {member.endpoint}" for member in members) if len(members) <= MAX_NAMES else ""
    return f"fleet preflight --env {members[0].environment}{arguments}"
