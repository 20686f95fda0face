"""The report as JSON."""

from __future__ import annotations

from dataclasses import asdict

from triton_fleet.catalog.prices import price_list
from triton_fleet.changes.endpoint_change import EndpointChange
from triton_fleet.changes.endpoint_group import EndpointGroup
from triton_fleet.changes.environment_change import EnvironmentChange
from triton_fleet.changes.fleet_change import FleetChange, ProductChange
from triton_fleet.changes.money_change import CostChange, MoneyChange
from triton_fleet.changes.pending_promotion import PendingPromotion
from triton_fleet.changes.templates import Change
from triton_fleet.context.cost import Cost
from triton_fleet.findings import Finding

VERSION = 2
"""Raised when a field of the JSON is removed or changes its meaning, not when one is added."""


def report_document(change: FleetChange) -> dict[str, object]:
    """The whole report; money is text, so that no reader rounds it, and None if unknown."""
    return {
        "version": VERSION,
        "base": {"reference": change.reference, "commit": change.commit},
        "verdict": change.verdict,
        "executed": [asdict(file) for file in change.executed_files],
        "notes": list(change.notes),
        "product": _product(change.product),
        "currency": change.prices.currency,
        "prices": asdict(price_list()),
        "own_prices": change.prices.own.model_dump(mode="json") if change.prices.own else None,
        "environments": [_environment(environment, change.phrase) for environment in change.environments],
    }


def _product(product: ProductChange | None) -> dict[str, object] | None:
    if product is None:
        return None
    return {
        "before": product.before,
        "after": product.after,
        "problem": product.problem or None,
        "stacks": [
            {
                "environment": environment,
                "stack": stack,
                "resources": [_resource(change) for change in changes],
            }
            for (environment, stack), changes in product.stacks.items()
        ],
    }


def _environment(environment: EnvironmentChange, phrase: str) -> dict[str, object]:
    return {
        "environment": environment.name,
        "region": environment.region,
        "verdict": phrase if environment.is_empty else environment.verdict,
        "price_note": environment.price_note,
        "notes": list(environment.notes),
        "difference": _difference(environment.money),
        "not_in_difference": list(environment.endpoints_without_cost),
        "by_owner": {owner: _difference(change) for owner, change in environment.by_owner.items()},
        "quotas": [asdict(entry) for entry in environment.quotas],
        "endpoints": [_endpoint(entry) for entry in environment.endpoints],
        "groups": [_group(entry) for entry in environment.groups],
        "pending": [pending_record(entry) for entry in environment.promotions],
        "shared": {
            "resources": [_resource(entry) for entry in environment.foundation],
            "iam": list(environment.permissions),
        },
        "findings": {
            "new": [_finding(entry) for entry in environment.new],
            "fixed": [_finding(entry) for entry in environment.fixes],
        },
    }


def _endpoint(change: EndpointChange) -> dict[str, object]:
    return {
        "endpoint": change.endpoint,
        "owner": change.owner,
        "effect": change.effect.value,
        "interrupts": change.effect.interrupts,
        "new_model": change.new_model,
        "renamed": change.other_name or None,
        "problem": change.problem or None,
        "changes": list(change.changes),
        "content": list(change.content),
        "builds": list(change.builds),
        "areas": list(change.areas),
        "traffic": None if change.traffic is None else asdict(change.traffic),
        "instances": change.need
        and {"type": change.need.type, "beside": change.need.beside, "most": change.need.max_instances},
        "cost": {
            "certain": change.certain_price,
            "min": _cost(change.min_cost),
            "max": _cost(change.max_cost),
        },
        "iam": list(change.permissions),
        "warnings": list(change.warnings),
        "rollback": change.rollback,
        "resources": [_resource(resource) for resource in change.resources],
    }


def _difference(change: MoneyChange) -> dict[str, str | int | None]:
    return {
        "min": _month_text(change.min_cost),
        "max": _month_text(change.max_cost),
        "unknown": change.unknown,
    }


def _group(group: EndpointGroup) -> dict[str, object]:
    """Endpoints of which a reviewer reads the same, with the sums of their costs."""
    return {
        "endpoints": list(group.names),
        "label": group.label,
        "cost": {"min": _cost(group.common.min_cost), "max": _cost(group.common.max_cost)},
    }


def pending_record(promotion: PendingPromotion) -> dict[str, object]:
    """The change of one endpoint that waits for a promotion."""
    return {
        "endpoint": promotion.endpoint,
        "state": promotion.state.value,
        "changes": [{"key": change.key, "change": str(change)} for change in promotion.changes],
        "content": list(promotion.content),
        "cost": {
            "certain": promotion.certain_price,
            "min": _cost(promotion.min_cost),
            "max": _cost(promotion.max_cost),
        },
        "refused_by": list(promotion.codes),
        "permitted": list(promotion.permitted_codes),
        "problem": promotion.problem or None,
    }


def _cost(change: CostChange) -> dict[str, str | None]:
    parts = {"before": change.before, "after": change.after, "difference": change.difference}
    return {name: _month_text(cost) for name, cost in parts.items()}


def _month_text(cost: Cost | None) -> str | None:
    return None if cost is None else str(cost.per_month)


def _resource(change: Change) -> dict[str, object]:
    return {
        "effect": change.effect.value,
        "type": change.type,
        "id": change.logical_id,
        "properties": list(change.properties),
    }


def _finding(finding: Finding) -> dict[str, object]:
    return {
        "code": finding.code,
        "severity": finding.severity.value,
        "file": str(finding.file) if finding.file else None,
        "line": finding.line,
        "message": None if finding.confidential else finding.message,
        "hint": finding.hint,
    }
