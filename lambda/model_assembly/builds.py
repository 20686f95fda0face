"""The builds of engines: what CodeBuild knows of them, their start, and why one has failed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from botocore.exceptions import ClientError

from .bucket import Bucket
from .copies import copy_range, whole
from .errors import AssemblyError, PendingError
from .request import Engine, Place

IN_PROGRESS = "IN_PROGRESS"
LIMIT, NO_QUOTA = "AccountLimitExceededException", "more than 0 builds"
"""CodeBuild's code for too many builds, and its words if the account may have none: waiting does not help."""
RETRY = "Remove the cause, and deploy again."


class Builds:
    """The builds of a project, as one look at them finds them.

    A build is found by the request in its variables, so builds that a publisher or another stack has started
    count as well.
    """

    def __init__(self, codebuild: Any, bucket: Bucket, project: str, script: Place, since: float) -> None:
        """Look at the builds.

        Args:
            codebuild: A client of CodeBuild.
            bucket: The artifact bucket.
            project: The project that builds engines.
            script: The build script among the app's assets.
            since: When the deploy has begun, in seconds since 1970: builds that ended before are another's.
        """
        self._codebuild, self._bucket, self._project = codebuild, bucket, project
        self._script, self._since = script, since

    def ensure(self, engine: Engine) -> str:
        """Have an engine built, and return what its build is doing.

        Raises:
            AssemblyError: its build has failed since the deploy has begun, or CodeBuild refuses it.
            PendingError: CodeBuild has no place for it now.
            ClientError: AWS refuses.
        """
        builds = self._of(engine)
        running_build = next((build for build in builds if build["buildStatus"] == IN_PROGRESS), None)
        if running_build is not None:
            phase = str(running_build.get("currentPhase", "")).lower()
            return f"the engine of model {engine.request.model!r} is being built ({phase})"
        if builds and _end(builds[0]) >= self._since:
            if self._bucket.head(engine.request.manifest) is not None:
                return (
                    f"the engine of model {engine.request.model!r} is ready"  # since the look at the bucket
                )
            raise self._failure(engine, builds[0])
        self._start(engine, after=builds[0]["id"] if builds else "")
        return f"the build of the engine of model {engine.request.model!r} is started"

    @cached_property
    def _newest(self) -> Sequence[Mapping[str, Any]]:
        """The last 100 builds of the project, the newest first."""
        ids = self._codebuild.list_builds_for_project(projectName=self._project)["ids"]
        builds = self._codebuild.batch_get_builds(ids=ids)["builds"] if ids else []
        return sorted(builds, key=lambda build: int(build["buildNumber"]), reverse=True)

    def _of(self, engine: Engine) -> list[Mapping[str, Any]]:
        request = engine.start["environmentVariablesOverride"][0]
        return [
            build
            for build in self._newest
            if any(
                (variable["name"], variable["value"]) == (request["name"], request["value"])
                for variable in build["environment"]["environmentVariables"]
            )
        ]

    def _start(self, engine: Engine, *, after: str) -> None:
        """Start a build, once for all who do so after the same former build."""
        bucket, request = self._bucket, engine.request
        for asset, key in ((engine.onnx, request.onnx), (self._script, request.script)):
            if bucket.head(key) is None:
                copy_range(bucket.s3, whole(bucket.s3, asset), Place(bucket.name, key), only_if_new=True)
        bucket.write(engine.request_key, request.json().encode())
        token = hashlib.sha256(f"{request.key} {after}".encode()).hexdigest()
        try:
            self._codebuild.start_build(**engine.start, idempotencyToken=token)
        except ClientError as error:
            code, reason = error.response["Error"]["Code"], error.response["Error"]["Message"]
            if code != LIMIT:
                raise
            if NO_QUOTA not in reason:
                raise PendingError(f"CodeBuild: {reason}") from error
            problem = f"CodeBuild refuses the build of the engine of model {request.model!r}: {reason}."
            remedy = "Request a higher quota of concurrent builds in Service Quotas, and deploy again."
            raise AssemblyError(problem, remedy) from error

    def _failure(self, engine: Engine, build: Mapping[str, Any]) -> AssemblyError:
        """Why a build has ended without an engine, as its script recorded it, else as CodeBuild knows it."""
        document = json.loads(self._bucket.read(engine.request.failure) or b"{}")
        reason, remedy = f"the build ended with the status {build['buildStatus']}", ""
        if document.get("by") == build["id"]:
            reason, remedy = f"{document['problem']}: {document['message']}", document["remedy"]
        elif messages := _messages(build):
            reason += f": {messages[0]}"
        problem = f"The engine of model {engine.request.model!r} was not built: {reason}."
        log = build.get("logs", {}).get("deepLink") or build["id"]
        remedies = (f"{remedy[:1].upper()}{remedy[1:]}." if remedy else "", f"Its log: {log}.", RETRY)
        return AssemblyError(problem, " ".join(filter(None, remedies)))


def _end(build: Mapping[str, Any]) -> float:
    return float(build["endTime"].timestamp())


def _messages(build: Mapping[str, Any]) -> list[str]:
    return [
        context["message"]
        for phase in build.get("phases", [])
        if phase.get("phaseStatus") not in (None, "SUCCEEDED")
        for context in phase.get("contexts", [])
        if context.get("message")
    ]
