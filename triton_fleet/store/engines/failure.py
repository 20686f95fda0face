"""Findings for engines that were not built, at the line of the spec that needs them."""

from __future__ import annotations

from collections.abc import Sequence

from triton_fleet.builds.engines.object_keys import MANIFEST, built_key
from triton_fleet.findings import Finding
from triton_fleet.spec.source import finding_at
from triton_fleet.store.builds.codebuild import Build
from triton_fleet.store.builds.failure import Failure, FailureTerms, failure_report
from triton_fleet.store.engines.request import EngineUse, WantedEngine

MACHINE, MODEL, MEMORY, TIME, CHANGED, REFUSED, STOPPED, UNKNOWN = (
    "FL375",
    "FL376",
    "FL377",
    "FL378",
    "FL373",
    "FL379",
    "FL380",
    "FL381",
)
CODES = {
    10: MACHINE,
    11: MACHINE,
    12: MACHINE,
    13: MACHINE,
    14: CHANGED,
    15: MODEL,
    16: MEMORY,
    17: TIME,
    18: MODEL,
    19: MODEL,
    20: REFUSED,
    21: STOPPED,
}
"""By the exit code of the build script, which engine_build/engine_request/problems.py explains."""


def failure_findings(
    engine: WantedEngine, build: Build, failure: Failure | None, log: Sequence[str]
) -> list[Finding]:
    """The findings for a build that ended without an engine, at each line that needs it."""
    terms = FailureTerms(
        codes=CODES,
        unknown=UNKNOWN,
        late=TIME,
        timeout="`engine_builds.timeout` of the environment",
        manifest=f"s3://{engine.first.endpoint.deployment.bucket}/{built_key(engine.key, MANIFEST)}",
        what="an engine",
    )
    told = failure_report(build, failure, log, terms)
    return [
        finding_at(
            use.engine.mark,
            told.code,
            f"the engine of model {use.engine.model!r} was not built: {told.reason}",
            told.hint,
        )
        for use in _distinct_uses(engine)
    ]


def _distinct_uses(engine: WantedEngine) -> list[EngineUse]:
    """One use for each line of the specs: copies share a line."""
    return list({use.engine.mark: use for use in engine.uses}.values())
