"""Limits of a statement: instances, their number and cost, of regions and of Triton's releases."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import date
from decimal import Decimal

from triton_fleet.catalog.instances import instance, instance_types
from triton_fleet.catalog.prices import LEGEND, price_sign
from triton_fleet.context.cost import MONTH, sum_of, with_unknown
from triton_fleet.context.machines import Machine
from triton_fleet.context.raw import RawProperty
from triton_fleet.core.formats import count_of
from triton_fleet.findings import Severity
from triton_fleet.rules.about.raw_policy import IMAGES
from triton_fleet.rules.policies.breach import Breach
from triton_fleet.rules.policies.file import join_words, matches
from triton_fleet.rules.policies.subject import Subject
from triton_fleet.spec.policy import Statement
from triton_fleet.spec.problems import dotted_path
from triton_fleet.spec.source import KeyPath

RETIRING_DAYS = 30
"""So many days before a release's last day it is a warning."""
MAX_TYPES = 5
"""So many instance types are proposed."""
KNOWN_TYPE = "write an instance type that the catalog knows"
RELEASES = "triton.releases"


def limit_breaches(statement: Statement, subject: Subject, today: date) -> Iterator[Breach]:
    """Limits of a statement that an endpoint breaks, except what is of all endpoints of a team."""
    yield from _instances(statement, subject)
    yield from _gpus(statement, subject)
    yield from _regions(statement, subject)
    yield from _max_instances(statement, subject)
    yield from _endpoint_cost(statement, subject)
    yield from _release(statement, subject, today)


def _instances(statement: Statement, subject: Subject) -> Iterator[Breach]:
    patterns = statement.instances
    if patterns is None:
        return
    for machine in subject.machines:
        if not matches(patterns, machine.type):
            yield Breach(
                key="instances",
                code="FL950",
                path=machine.path,
                observation=f"{machine.label or '`instance.type`'} is {machine.type}",
                rule=f"allows {join_words(patterns)}",
                remedy=_proposal(patterns),
            )
    yield from _unchecked_values(
        subject.computed_types,
        "instances",
        "FL950",
        "leads to an instance type",
        f"allows {join_words(patterns)}",
        "write the instance type itself",
    )


def _proposal(patterns: tuple[str, ...]) -> str:
    types = [instance_type for instance_type in instance_types() if matches(patterns, instance_type)]
    more = f" and {len(types) - MAX_TYPES} more" if len(types) > MAX_TYPES else ""
    types_text = f"{', '.join(types[:MAX_TYPES])}{more}" if types else join_words(patterns, "or")
    return f"write one of {types_text}"


def _gpus(statement: Statement, subject: Subject) -> Iterator[Breach]:
    if statement.gpus is None:
        return
    maximum = statement.gpus.max
    limit_text = count_of(maximum, "GPU")
    for machine in subject.machines:
        is_known = machine.type in instance_types()
        number = instance(machine.type).gpus if is_known else 0
        if number > maximum:
            yield Breach(
                key="gpus.max",
                code="FL951",
                path=machine.path,
                observation=f"{machine.label or '`instance.type`'} is {machine.type},"
                f" which has {count_of(number, 'GPU')}",
                rule=f"allows {limit_text} in an instance",
                remedy=f"write an instance type with {limit_text} or fewer"
                if maximum
                else "write an instance type without a GPU",
            )
        elif not is_known:
            observation = f"the catalog does not have {machine.type}, so the number of its GPUs is unknown"
            yield unknown_fact("gpus.max", machine.path, observation, f"allows {limit_text} in an instance")
    yield from _unchecked_values(
        subject.computed_types,
        "gpus.max",
        "FL951",
        "leads to an instance type",
        f"allows {limit_text} in an instance",
        "write the instance type itself",
    )


def _regions(statement: Statement, subject: Subject) -> Iterator[Breach]:
    regions, environment = statement.regions, subject.project.environment
    if regions is not None and not matches(regions, environment.region):
        yield Breach(
            key="regions",
            code="FL952",
            path=("region",),
            observation=f"the environment {environment.environment!r} is in {environment.region}",
            rule=f"allows {join_words(regions)}",
            remedy=f"use an environment in {join_words(regions, 'or')} for it",
            of_environment=True,
        )


def _max_instances(statement: Statement, subject: Subject) -> Iterator[Breach]:
    maximum = statement.max_instances
    if maximum is None:
        return
    rule = f"allows {count_of(maximum, 'instance')}"
    for count in subject.counts:
        if count.number > maximum:
            yield Breach(
                key="max_instances",
                code="FL953",
                path=count.path,
                observation=f"{count.label or f'`{dotted_path(count.path)}`'} is {count.number}",
                rule=rule,
                remedy=f"write {maximum} or fewer",
            )
    yield from _unchecked_values(
        subject.computed_counts,
        "max_instances",
        "FL953",
        "is a number of instances",
        rule,
        "write the number itself",
    )


def _endpoint_cost(statement: Statement, subject: Subject) -> Iterator[Breach]:
    limit = statement.monthly_cost.endpoint if statement.monthly_cost else None
    if limit is None:
        return
    spending, currency = subject.spending, subject.project.fleet.prices.currency
    key, rule = "monthly_cost.endpoint", f"allows {money(limit, currency)}"
    if spending.cost.per_month > exact(limit):
        fit = int(exact(limit) / MONTH / spending.price) if spending.price and len(spending.parts) == 1 else 0
        parts = join_words(spending.parts)
        fewer = f"write {fit} or fewer, or" if fit else "write"
        yield Breach(
            key=key,
            code="FL954",
            path=spending.path,
            observation=f"at its maximum, {parts}, the endpoint costs {cost_text([subject])}",
            rule=rule,
            remedy=f"{fewer} another instance type",
        )
        return
    for machine in spending.unpriced_machines:
        yield unpriced_cost(subject, machine, key, "the cost is unknown", f"{rule} a month")
    yield from computed_costs(subject, key, "FL954", f"{rule} a month")


def unpriced_cost(subject: Subject, machine: Machine, key: str, effect: str, rule: str) -> Breach:
    """A warning: the price of an instance type is unknown, by which a key could be checked."""
    environment = subject.project.environment
    reason, remedy = subject.project.fleet.prices.absence(machine.type, environment.region)
    return unknown_fact(key, machine.path, f"{reason}, so {effect}", rule, remedy)


def cost_text(subjects: Collection[Subject]) -> str:
    """The costs of endpoints a month at the most: `8,110.08 USD a month, and 1 unknown`."""
    is_computed = any(subject.spending.is_computed for subject in subjects)
    return f"{amount(subjects, ' a month')}{f' ({LEGEND})' * is_computed}"


def amount(subjects: Collection[Subject], period: str = "") -> str:
    """The same without the legend of `~`, and with another period: `8,110.08 USD, and 1 unknown`."""
    spendings, total = [subject.spending for subject in subjects], monthly_cost(subjects)
    unknown = sum(bool(spending.unpriced_machines) for spending in spendings)
    sign = price_sign(certain=not any(spending.is_computed for spending in spendings))
    currency = next(iter(subjects)).project.fleet.prices.currency
    amount_text = f"{sign}{money(total, currency)}{period}" if total or not unknown else None
    return with_unknown(amount_text, unknown)


def monthly_cost(subjects: Iterable[Subject]) -> Decimal:
    """The money that endpoints cost a month at the most, as far as it is known."""
    total = sum_of(subject.spending.cost for subject in subjects)
    return total.per_month if total else Decimal(0)


def computed_costs(subject: Subject, key: str, code: str, rule: str) -> Iterator[Breach]:
    """Raw properties that leave a part of the endpoint's cost to CloudFormation."""
    raws = (*subject.computed_types, *subject.computed_counts)
    yield from _unchecked_values(raws, key, code, "leads to a cost", rule, "write the value itself")


def _release(statement: Statement, subject: Subject, today: date) -> Iterator[Breach]:
    if statement.triton is None:
        return
    releases, release = statement.triton.releases, subject.loaded_spec.spec.triton
    yield from _of_release(releases, release, today, ("triton",), f"`triton` is {release}")
    yield from unproved_release(subject, RELEASES, "FL956", f"allows {join_words(list(releases))}")
    image = subject.loaded_spec.spec.own_image
    image_release = subject.image_release if image is not None and image.uri is not None else None
    if image_release not in (None, release):
        observation = f"the image contains Triton {image_release}"
        yield from _of_release(releases, image_release, today, ("image", "uri"), observation)


def unproved_release(subject: Subject, key: str, code: str, rule: str) -> Iterator[Breach]:
    """Breaches by raw images, and by an image of whose release nothing is known."""
    for raw in subject.raw_properties("Model", *IMAGES):
        observation = f"the raw property {raw.name} replaces the image of `triton`"
        yield Breach(
            key=key, code=code, path=raw.path, observation=observation, rule=rule, remedy="leave it out"
        )
    image = subject.loaded_spec.spec.own_image
    if image is not None and image.uri is not None and subject.image_release is None:
        remedy = f"run {subject.lock_command} with credentials that may pull it"
        yield unknown_fact(key, ("image", "uri"), "the Triton release in the image is unknown", rule, remedy)


def _of_release(
    releases: Mapping[str, date | None], release: str, today: date, path: KeyPath, observation: str
) -> Iterator[Breach]:
    """Breaches of a statement by one release that an endpoint runs."""
    further = [name for name, last in releases.items() if name != release and (last is None or last >= today)]
    remedy = f"write {join_words(further, 'or')}" if further else "have the policy allow another release"
    severity, code, rule = Severity.ERROR, "FL956", f"allows {join_words(list(releases))}"
    if release in releases:
        last = releases[release]
        if last is None or (last - today).days > RETIRING_DAYS:
            return
        code, rule = "FL957", f"allowed it until {last.isoformat()}"
        if last >= today:
            severity, code, rule = Severity.WARNING, "FL958", f"allows it until {last.isoformat()}"
            observation = f"{observation}, and {remaining_days(last, today)}"
    yield Breach(
        key=RELEASES,
        code=code,
        path=path,
        observation=observation,
        rule=rule,
        remedy=remedy,
        severity=severity,
    )


def _unchecked_values(
    raws: Iterable[RawProperty], key: str, code: str, leads_to: str, rule: str, remedy: str
) -> Iterator[Breach]:
    """Raw properties that leave to CloudFormation what a key limits."""
    for raw in raws:
        observation = f"{raw.name} {leads_to} that is not written out, so that no policy can check it"
        yield Breach(key=key, code=code, path=raw.path, observation=observation, rule=rule, remedy=remedy)


def unknown_fact(key: str, path: KeyPath, observation: str, rule: str, remedy: str = KNOWN_TYPE) -> Breach:
    """A warning: a fact is missing by which a key could be checked."""
    return Breach(
        key=key,
        code="FL994",
        path=path,
        observation=observation,
        rule=rule,
        remedy=remedy,
        severity=Severity.WARNING,
    )


def remaining_days(last: date, today: date) -> str:
    """How long until a last day: `5 days are left`."""
    days = (last - today).days
    if days == 0:
        return "today is its last day"
    return "1 day is left" if days == 1 else f"{days} days are left"


def money(number: float | Decimal, currency: str) -> str:
    """An amount as a message names it: `4,557,312 USD`."""
    amount = exact(number)
    return f"{amount:,.{0 if amount == amount.to_integral_value() else 2}f} {currency}"


def exact(number: float | Decimal) -> Decimal:
    """The number as the file has it."""
    return Decimal(str(number))
