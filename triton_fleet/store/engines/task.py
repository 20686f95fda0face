"""An engine as a task for CodeBuild: what starts its build, what comes of it, and why it may fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from triton_fleet.builds.engines.artifacts import FAILURE, MANIFEST, REQUEST, built_key, lease_key
from triton_fleet.catalog.engines import build_quota
from triton_fleet.findings import Finding
from triton_fleet.spec.source import finding_at
from triton_fleet.store.builds.codebuild import Build, BuildClients, BuildStart, RefusalError
from triton_fleet.store.builds.failure import FailureTerms, failure_findings
from triton_fleet.store.builds.script import SOURCES
from triton_fleet.store.engines.inputs import BuildInputs
from triton_fleet.store.engines.request import StoredPlan, WantedEngine, stored_plan

REQUEST_VARIABLE, ENDPOINT_VARIABLE = "FLEET_ENGINE_REQUEST", "FLEET_ENGINE_ENDPOINT"


class EngineTask:
    """One engine of one publish; `seconds` is how long it may take."""

    kind: ClassVar[str] = "engine"

    def __init__(
        self, clients: BuildClients, bucket: str, inputs: BuildInputs, engine: WantedEngine, seconds: int
    ) -> None:
        self._clients, self._bucket, self._inputs = clients, bucket, inputs
        self._engine, self._seconds = engine, seconds

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
        self._inputs.put_request(use, self._seconds)
        deployment = use.endpoint.deployment
        url = f"s3://{self._bucket}/{built_key(self._engine.key, REQUEST)}"
        return BuildStart(
            project=deployment.build_project("job"),
            script=f"{self._bucket}/{self._inputs.script}",
            buildspec=(SOURCES / "job.buildspec.yaml").read_text("utf-8"),
            variables={REQUEST_VARIABLE: url, ENDPOINT_VARIABLE: use.endpoint.name},
            foundation=f"run `fleet deploy --env {deployment.environment} --foundation` to create it",
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
