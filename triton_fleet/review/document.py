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


def report_document(found: FleetChange) -> dict[str, object]:
    """The whole report; money is text, so that no reader rounds it, and None if unknown."""
    return {
        "version": VERSION,
        "base": {"reference": found.reference, "commit": found.commit},
        "verdict": found.verdict,
        "executed": [asdict(each) for each in found.executed],
        "notes": list(found.notes),
        "product": _product(found.product),
        "currency": found.prices.currency,
        "prices": asdict(price_list()),
        "own_prices": found.prices.own.model_dump(mode="json") if found.prices.own else None,
        "environments": [_environment(environment, found.phrase) for environment in found.environments],
    }


def _product(found: ProductChange | None) -> dict[str, object] | None:
    if found is None:
        return None
    return {
        "before": found.before,
        "after": found.after,
        "problem": found.problem or None,
        "stacks": [
            {
                "environment": environment,
                "stack": stack,
                "resources": [_resource(change) for change in changes],
            }
            for (environment, stack), changes in found.stacks.items()
        ],
    }


def _environment(each: EnvironmentChange, phrase: str) -> dict[str, object]:
    return {
        "environment": each.name,
        "region": each.region,
        "verdict": phrase if each.is_empty else each.verdict,
        "price_note": each.price_note,
        "notes": list(each.notes),
        "difference": _difference(each.money),
        "not_in_difference": list(each.unpriced),
        "by_owner": {owner: _difference(change) for owner, change in each.by_owner.items()},
        "quotas": [asdict(one) for one in each.quotas],
        "endpoints": [_endpoint(one) for one in each.endpoints],
        "groups": [_group(one) for one in each.groups],
        "pending": [pending_record(one) for one in each.pending],
        "shared": {"resources": [_resource(one) for one in each.shared], "iam": list(each.permissions)},
        "findings": {
            "new": [_finding(one) for one in each.new],
            "fixed": [_finding(one) for one in each.fixed],
        },
    }


def _endpoint(each: EndpointChange) -> dict[str, object]:
    return {
        "endpoint": each.endpoint,
        "owner": each.owner,
        "effect": each.effect.value,
        "interrupts": each.effect.interrupts,
        "new_model": each.new_model,
        "renamed": each.renamed or None,
        "problem": each.problem or None,
        "changes": list(each.changes),
        "content": list(each.content),
        "builds": list(each.built),
        "areas": list(each.areas),
        "traffic": None if each.traffic is None else asdict(each.traffic),
        "instances": None if each.need is None else asdict(each.need),
        "cost": {"certain": each.certain_price, "min": _cost(each.least), "max": _cost(each.most)},
        "iam": list(each.permissions),
        "warnings": list(each.warnings),
        "rollback": each.rollback,
        "resources": [_resource(one) for one in each.resources],
    }


def _difference(change: MoneyChange) -> dict[str, str | int | None]:
    return {"min": _monthly(change.least), "max": _monthly(change.most), "unknown": change.unknown}


def _group(each: EndpointGroup) -> dict[str, object]:
    """Endpoints of which a reviewer reads the same, with the sums of their costs."""
    return {
        "endpoints": list(each.names),
        "label": each.label,
        "cost": {"min": _cost(each.common.least), "max": _cost(each.common.most)},
    }


def pending_record(each: PendingPromotion) -> dict[str, object]:
    """The change of one endpoint that waits for a promotion."""
    return {
        "endpoint": each.endpoint,
        "state": each.state.value,
        "changes": [{"key": one.key, "change": str(one)} for one in each.changes],
        "content": list(each.content),
        "cost": {"certain": each.certain_price, "min": _cost(each.least), "max": _cost(each.most)},
        "refused_by": list(each.codes),
        "permitted": list(each.permitted),
        "problem": each.problem or None,
    }


def _cost(change: CostChange) -> dict[str, str | None]:
    parts = {"before": change.before, "after": change.after, "difference": change.difference}
    return {name: _monthly(cost) for name, cost in parts.items()}


def _monthly(cost: Cost | None) -> str | None:
    return None if cost is None else str(cost.monthly)


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
