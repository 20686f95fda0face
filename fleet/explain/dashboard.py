"""The decisions about the endpoint's dashboard."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.catalog.prices import dashboard_price
from fleet.endpoint.context.context import Decided
from fleet.endpoint.context.variables import triton_metrics
from fleet.explain.decision import Decision, dated


def dashboard_decisions(endpoint: Decided) -> Iterator[Decision]:
    """Whether there is one, what it costs, and how it finds Triton's metrics."""
    if not endpoint.environment.dashboards:
        reason = "the environment's `dashboards` is off"
        yield Decision(group="dashboard", what="dashboard", value="none", reason=reason)
        return
    yield Decision(
        group="dashboard",
        what="dashboard",
        value="one of its own",
        reason=f"`dashboards` of the environment; in an account {dashboard_price():.2f} USD a month,"
        " which `dashboards: false` saves",
        facts=(dated("prices.yaml"),),
    )
    metrics = triton_metrics(endpoint.spec)
    if metrics is None:
        return
    value, reason = ", ".join(metrics.dimensions), "`metrics.triton_dimensions`"
    if not metrics.dimensions:
        value = "whatever they are"
        reason = (
            "not documented: metrics are found by their names, until `metrics.triton_dimensions` names them"
        )
    yield Decision(group="dashboard", what="dimensions of Triton's metrics", value=value, reason=reason)
