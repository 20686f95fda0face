"""An engine as a task for CodeBuild: what starts its build, what comes of it, and why it may fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from triton_fleet.builds.engines.artifacts import FAILURE, MANIFEST, built_key, lease_key
from triton_fleet.builds.start import BuildStart
from triton_fleet.catalog.engines import build_quota
from triton_fleet.endpoint.engine_request import engine_start
from triton_fleet.findings import Finding
from triton_fleet.spec.source import finding_at
from triton_fleet.store.builds.codebuild import Build, BuildClients, RefusalError
from triton_fleet.store.builds.failure import FailureTerms, failure_findings
from triton_fleet.store.engines.inputs import BuildInputs
from triton_fleet.store.engines.request import StoredPlan, WantedEngine, stored_plan


class EngineTask:
    """One engine of one publish."""

    kind: ClassVar[str] = "engine"

    def __init__(self, clients: BuildClients, bucket: str, inputs: BuildInputs, engine: WantedEngine) -> None:
        self._clients, self._bucket, self._inputs = clients, bucket, inputs
        self._engine = engine

    @property
    def name(self) -> str:
        """Endpoint and model."""
        return self._engine.first.name

    @property
    def lease(self) -> str:
        """The key of the lease in the bucket."""
        return lease_key(self._engine.key)

    def prepare(self) -> None:
        """Put the ONNX model there.

        Raises:
            FindingsError: no use has it any more.
        """
        self._inputs.put_onnx(self._engine)

    def find(self) -> StoredPlan | None:
        """The complete plan, if it exists."""
        return stored_plan(self._clients.s3, self._bucket, self._engine.key)

    def start(self) -> BuildStart:
        """Write the request of an attempt; return what it is started with."""
        use = self._engine.first
        self._inputs.put_request(use)
        return engine_start(
            use.endpoint.deployment, use.endpoint.name, key=self._engine.key, script=self._inputs.script
        )

    def refusal(self, error: RefusalError) -> list[Finding]:
        """Why CodeBuild does not start it."""
        use = self._engine.first
        quota = build_quota("job")
        hint = (
            f"request a higher quota {quota!r} of AWS CodeBuild in Service Quotas; a new account's is 0"
            if error.is_quota
            else f"the build was chosen because: {use.engine.runner.reason}"
        )
        message = f"CodeBuild refuses the build of model {use.engine.model!r}: {error}"
        return [finding_at(use.engine.mark, REFUSAL, message, hint)]

    def failure(self, build: Build, log: Sequence[str]) -> list[Finding]:
        """Why a build has ended without a plan."""
        key = self._engine.key
        terms = FailureTerms(
            codes=CODES,
            unknown=UNKNOWN,
            late=TIME,
            failure=built_key(key, FAILURE),
            manifest=built_key(key, MANIFEST),
            subject="an engine",
        )
        # Once for each line of the specs: copies share a line.
        messages = {
            use.engine.mark: f"the engine of model {use.engine.model!r} was not built"
            for use in self._engine.uses
        }
        return failure_findings(self._clients.s3, self._bucket, build, log, terms, messages)


TIME, REFUSAL, UNKNOWN = "FL378", "FL379", "FL381"
CODES = {
    **dict.fromkeys((10, 11, 12, 13), "FL375"),
    **dict.fromkeys((15, 18, 19), "FL376"),
    **{14: "FL373", 16: "FL377", 17: TIME, 20: REFUSAL, 21: "FL380"},
}
"""By the exit code of the build script, which engine_build/engine_request/problems.py explains."""
