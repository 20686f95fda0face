"""Which security fixes an endpoint's Triton lacks is among the decisions about its image."""

from __future__ import annotations

from triton_fleet.explain.decision import Decision
from triton_fleet.explain.decisions import decisions
from triton_fleet.rules.example import ARCHIVE_SIZE, REGION, Case
from triton_fleet.spec.deployment import Deployment
from triton_fleet.spec.prices import PriceBook


def fix_decision(**spec: object) -> Decision:
    context = Case(spec=spec, region=REGION, models=None, archive_size=ARCHIVE_SIZE).context()
    (decision,) = (
        decision
        for decision in decisions(context, Deployment.of(context.environment), PriceBook())
        if decision.what == "missing security fixes"
    )
    return decision


def test_the_fixes_that_the_release_lacks_are_named_with_their_first_release() -> None:
    decision = fix_decision(triton="26.05", mode="multi-model")
    assert decision.value == "load-path (medium, 26.06)"
    assert decision.reason == "of Triton's SageMaker front end, in release 26.05, for `mode: multi-model`"
    assert [fact.file for fact in decision.facts] == ["security_fixes.yaml"]


def test_a_release_without_a_gap_says_so() -> None:
    assert fix_decision(triton="26.05").value == "none that the catalog knows"
