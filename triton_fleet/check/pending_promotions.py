"""The changes that wait for a promotion to an environment, and the findings that would refuse them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from triton_fleet.changes.pending_promotion import PendingPromotion
from triton_fleet.check.processes import all_in_processes
from triton_fleet.context.context import EndpointContext
from triton_fleet.endpoint.environment import environment_findings, name_conflicts
from triton_fleet.endpoint.fleet_buckets import source_findings
from triton_fleet.findings import Finding, FindingsError, Severity, collect_findings, with_endpoints
from triton_fleet.project.membership import promoted_spec
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.rules.apply import rule_findings
from triton_fleet.rules.names import name_of
from triton_fleet.rules.policies.check import refusals
from triton_fleet.rules.policies.subject import Subject
from triton_fleet.spec.prices import PriceBook
from triton_fleet.store.promote.backlog import PromotionPreview, PromotionPreviews
from triton_fleet.store.promote.spec import previewed_spec

REFUSED_PROMOTION = "FL522"


def pending_promotions(
    target: Project,
    today: date | None,
    names: Collection[str] | None = None,
    prices: PriceBook | None = None,
) -> list[PendingPromotion]:
    """The changes that wait for a promotion to an environment, by name, with what it would refuse of them.

    Args:
        target: An environment that is promoted to.
        today: The day on which policies are checked; None: they are not.
        names: The endpoints that are looked at. Default: all that main or the environment has.
        prices: The prices of all costs. Default: the fleet's, at which policies are checked in any case.

    Raises:
        FindingsError: the environment is not promoted to, or one of those before it is wrong.
    """
    previews = PromotionPreviews(target, prices)
    chosen = [name for name in previews.names if names is None or name in names]

    def compared(name: str) -> tuple[PendingPromotion, PromotionPreview | None] | None:
        found = previews.promotion(name)
        if found is None:
            return None
        preview = None if found.problem else previews.preview(name)
        return replace(found, by_rules=tuple(_by_rules(target, preview)) if preview else ()), preview

    results, _ = all_in_processes(chosen, compared, beside=lambda: None)
    waiting = [result for result in results if result is not None]
    new_previews = {found.endpoint: preview for found, preview in waiting if preview is not None}
    by_policies = _by_policies(target, new_previews, today) if today else {}
    return [replace(found, by_policies=tuple(by_policies.get(found.endpoint, ()))) for found, _ in waiting]


def promotion_warnings(pending: Iterable[PendingPromotion], known: Collection[Finding]) -> list[Finding]:
    """A warning for each cause that would refuse a promotion, at its place, unless it is known already."""
    return with_endpoints(
        (
            found.endpoint,
            replace(
                refusal,
                code=REFUSED_PROMOTION,
                severity=Severity.WARNING,
                message=f"{name_of(refusal.code)} ({refusal.code}) would refuse a promotion to"
                f" {found.environment}: {refusal.message}",
            ),
        )
        for found in pending
        for refusal in found.refusals
        if refusal not in known
    )


def require_promotable(tested: Project, target: Project, today: date) -> None:
    """Check a promotion before anything is copied.

    Args:
        tested: The environment that is promoted from, with the endpoints that are promoted.
        target: The environment that is promoted to, with the same endpoints, whether or not it has them.
        today: The day on which policies are checked.

    Raises:
        FindingsError: a spec or a lock is wrong, or the target's rules or policies, or a synthesis, would
            refuse what is promoted.
    """
    place = target.environment.environment
    files = {name: promoted_spec(target.root, place, name) for name in target.endpoints}
    whole = replace(target, spec_files={**files, **target.spec_files})
    found, previews = [*target.findings, *environment_findings(whole)], dict[str, PromotionPreview]()
    for name in target.endpoints:
        with collect_findings(found):
            previews[name] = PromotionPreview(_promoted_spec(tested, target, name), tested.lock(name))
    by_policies = _by_policies(target, previews, today)
    found += with_endpoints(
        (name, by_rule)
        for name, preview in previews.items()
        for by_rule in (*_by_rules(target, preview), *by_policies.get(name, ()))
    )
    if found:
        raise FindingsError(list(dict.fromkeys(found)))


def _promoted_spec(tested: Project, target: Project, endpoint: str) -> LoadedSpec:
    return previewed_spec(tested, target, endpoint) if target.is_promoted else target.load(endpoint)


def _by_rules(target: Project, preview: PromotionPreview) -> Sequence[Finding]:
    """The errors for which a synthesis of an endpoint would be refused."""
    loaded, environment = preview.loaded, target.environment
    decided = EndpointContext(loaded=loaded, environment=environment, lock=preview.lock)
    rules = [*rule_findings(decided, deploying=True), *source_findings(target, loaded)]
    rules += [each for _, each in name_conflicts(target, [loaded.spec.endpoint])]
    return [each for each in rules if each.severity is Severity.ERROR]


def _by_policies(
    target: Project, previews: Mapping[str, PromotionPreview], today: date
) -> Mapping[str, Sequence[Finding]]:
    subjects = [Subject(preview.loaded, target, preview.lock) for preview in previews.values()]
    return refusals(target, subjects, today, of_environment=True)
