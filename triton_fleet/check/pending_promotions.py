"""The changes that wait for a promotion to an environment, and the findings that would refuse them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from triton_fleet.changes.pending_promotion import PendingPromotion
from triton_fleet.check.processes import all_in_processes
from triton_fleet.context.context import EndpointContext
from triton_fleet.endpoint.bucket_keys import source_findings
from triton_fleet.endpoint.environment import environment_findings, name_conflicts
from triton_fleet.findings import Finding, FindingsError, Severity, collect_findings, with_endpoints
from triton_fleet.project.membership import promoted_spec
from triton_fleet.project.project import Project
from triton_fleet.rules.apply import rule_findings
from triton_fleet.rules.names import name_of
from triton_fleet.rules.policies.check import file_findings, refusals
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
    endpoints = [name for name in previews.names if names is None or name in names]

    def compare_endpoint(name: str) -> tuple[PendingPromotion, PromotionPreview | None] | None:
        promotion = previews.promotion(name)
        if promotion is None:
            return None
        preview = None if promotion.problem else previews.preview(name)
        return replace(promotion, by_rules=tuple(_by_rules(target, preview)) if preview else ()), preview

    results, _ = all_in_processes(endpoints, compare_endpoint, beside=lambda: None)
    pairs = [result for result in results if result is not None]
    new_previews = {
        waiting_promotion.endpoint: preview for waiting_promotion, preview in pairs if preview is not None
    }
    by_policies = _by_policies(target, new_previews, today) if today else {}
    return [
        replace(waiting_promotion, by_policies=tuple(by_policies.get(waiting_promotion.endpoint, ())))
        for waiting_promotion, _ in pairs
    ]


def promotion_warnings(
    promotions: Iterable[PendingPromotion], known_findings: Collection[Finding]
) -> list[Finding]:
    """A warning for each cause that would refuse a promotion, at its place, unless it is known already."""
    return with_endpoints(
        (
            promotion.endpoint,
            replace(
                refusal,
                code=REFUSED_PROMOTION,
                severity=Severity.WARNING,
                message=f"{name_of(refusal.code)} ({refusal.code}) would refuse a promotion to"
                f" {promotion.environment}: {refusal.message}",
            ),
        )
        for promotion in promotions
        for refusal in promotion.refusals
        if refusal not in known_findings
    )


def require_promotable(source: Project, target: Project, today: date) -> None:
    """Check a promotion before anything is copied.

    Args:
        source: The environment that is promoted from, with the endpoints that are promoted.
        target: The environment that is promoted to, with the same endpoints, whether or not it has them.
        today: The day on which policies are checked.

    Raises:
        FindingsError: a spec, a lock, a policy or prices.yaml is wrong, or the target's rules or policies, or
            a synthesis, would refuse what is promoted.
    """
    place = target.environment.environment
    files = {name: promoted_spec(target.root, place, name) for name in target.endpoints}
    whole = replace(target, spec_files={**files, **target.spec_files})
    findings, previews = [*target.findings, *environment_findings(whole)], dict[str, PromotionPreview]()
    for name in target.endpoints:
        with collect_findings(findings):
            spec = previewed_spec(source, target, name) if target.is_promoted else target.load(name)
            previews[name] = PromotionPreview(spec, source.lock(name))
    findings += [finding for finding in file_findings(target) if finding.severity is Severity.ERROR]
    by_policies = _by_policies(target, previews, today)
    findings += with_endpoints(
        (name, by_rule)
        for name, preview in previews.items()
        for by_rule in (*_by_rules(target, preview), *by_policies.get(name, ()))
    )
    if findings:
        raise FindingsError(list(dict.fromkeys(findings)))


def _by_rules(target: Project, preview: PromotionPreview) -> Sequence[Finding]:
    """The errors for which a synthesis of an endpoint would be refused."""
    spec, environment = preview.loaded_spec, target.environment
    endpoint = EndpointContext(loaded_spec=spec, environment=environment, lock=preview.lock)
    rules = [*rule_findings(endpoint, is_deploy=True), *source_findings(target, spec)]
    rules += [finding for _, finding in name_conflicts(target, [spec.spec.endpoint])]
    return [finding for finding in rules if finding.severity is Severity.ERROR]


def _by_policies(
    target: Project, previews: Mapping[str, PromotionPreview], today: date
) -> Mapping[str, Sequence[Finding]]:
    subjects = [Subject(preview.loaded_spec, target, preview.lock) for preview in previews.values()]
    return refusals(target, subjects, today, of_environment=True)
