"""CodeBuild: StartBuild with its overrides, the queue of builds, and their logs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from copy import deepcopy
from functools import partial
from typing import Any, cast
from uuid import uuid4

from moto.codebuild.exceptions import InvalidInputException, ResourceNotFoundException
from moto.codebuild.models import CodeBuildBackend
from moto.codebuild.responses import CodeBuildResponse
from moto.codebuild.urls import url_bases
from moto.core.responses import ActionResult

from fleet_emulator import process_state
from fleet_emulator.codebuild.build import (
    QUEUED,
    STOPPED,
    Build,
    next_in_queue,
    require_place,
    require_project_limit,
)
from fleet_emulator.codebuild.run import complete_build, run_build
from fleet_emulator.process_state import turn
from fleet_emulator.service_urls import ServiceUrls
from fleet_emulator.work.task import Task

_VISIBLE_KEYS = (
    "source",
    "artifacts",
    "environment",
    "serviceRole",
    "timeoutInMinutes",
    "queuedTimeoutInMinutes",
    "encryptionKey",
)
_PLACES = {
    "sourceTypeOverride": ("source", "type"),
    "sourceLocationOverride": ("source", "location"),
    "buildspecOverride": ("source", "buildspec"),
    "environmentTypeOverride": ("environment", "type"),
    "imageOverride": ("environment", "image"),
    "computeTypeOverride": ("environment", "computeType"),
    "imagePullCredentialsTypeOverride": ("environment", "imagePullCredentialsType"),
    "timeoutInMinutesOverride": ("timeoutInMinutes",),
    "queuedTimeoutInMinutesOverride": ("queuedTimeoutInMinutes",),
}
_VARIABLES = "environmentVariablesOverride"
_OTHERS = {"projectName", "idempotencyToken", _VARIABLES}


def overridden(project: Mapping[str, Any], request: Mapping[str, Any]) -> dict[str, Any]:
    """A project's settings with those of a request in their place; variables are added by their names.

    A source that the request names has the buildspec that the request names, or one in its root directory:
    the project's own is that of the project's source.

    Raises:
        InvalidInputException: an override that has no effect here, fleets among them.
    """
    for name in request:
        if name not in _PLACES.keys() | _OTHERS:
            raise InvalidInputException(f"the embedded AWS starts no build with {name}")
    declared = {key: deepcopy(project[key]) for key in _VISIBLE_KEYS if project.get(key) is not None}
    if "sourceTypeOverride" in request:
        declared["source"].pop("buildspec", None)
    for name, place in _PLACES.items():
        if name in request:
            holder = declared if len(place) == 1 else declared[place[0]]
            holder[place[-1]] = request[name]
    variables = {each["name"]: each for each in declared["environment"].get("environmentVariables", [])}
    variables |= {each["name"]: each for each in request.get(_VARIABLES, [])}
    for name, variable in variables.items():
        if variable.get("type", "PLAINTEXT") != "PLAINTEXT":
            raise InvalidInputException(f"the embedded AWS reads no variable from elsewhere: {name}")
    declared["environment"]["environmentVariables"] = list(variables.values())
    return declared


class EmbeddedCodeBuild(CodeBuildBackend):
    """One account's CodeBuild in one region: the project's role is not simulated, nor is its image."""

    def __init__(self, region_name: str, account_id: str) -> None:
        super().__init__(region_name, account_id)
        self._builds: dict[str, Build] = {}
        self._tokens: dict[str, tuple[Mapping[str, Any], str]] = {}

    @property
    def _url_module(self) -> ServiceUrls:
        return ServiceUrls(url_bases, {"{0}/$": EmbeddedCodeBuildResponse.dispatch})

    def start(self, request: Mapping[str, Any]) -> Build:
        """StartBuild; a repeated token, which CodeBuild knows for five minutes, is known for ever here.

        Raises:
            ResourceNotFoundException: there is no such project.
            InvalidInputException: an override that has no effect here, or a token with another request.
            AccountLimitExceededError: the queue is full, or the project runs as many builds as it allows.
        """
        token, name = request.get("idempotencyToken"), request["projectName"]
        if token in self._tokens:
            before, id = self._tokens[token]
            if before != request:
                raise InvalidInputException(f"the idempotency token {token} was used for another request")
            return self._builds[id]
        if name not in self.codebuild_projects:
            arn = f"arn:aws:codebuild:{self.region_name}:{self.account_id}:project/{name}"
            raise ResourceNotFoundException(f"Project cannot be found: {arn}")
        project = self.codebuild_projects[name].project_metadata
        declared = overridden(project, request)
        build = self._make_build(name, project, declared)
        runs = require_place(build, self._builds.values(), project.get("concurrentBuildLimit"))
        self._builds[build.id] = build
        self.build_history[name].insert(0, build.id)
        if token:
            self._tokens[token] = dict(request), build.id
        if runs:
            self._run(build)
        return build

    def found(self, ids: Sequence[str]) -> tuple[list[Build], list[str]]:
        """BatchGetBuilds: those that there are, and the ids of those that there are not."""
        return [self._builds[id] for id in ids if id in self._builds], [
            id for id in ids if id not in self._builds
        ]

    def stop(self, id: str) -> Build:
        """StopBuild; one that is over stays as it is.

        Raises:
            ResourceNotFoundException: there is no such build.
        """
        if id not in self._builds:
            raise ResourceNotFoundException(f"Build {id} does not exist")
        build = self._builds[id]
        if build.task is not None:
            build.task.stop()
        elif build.ended is None:
            build.end(STOPPED)
            complete_build(build, account=self.account_id, region=self.region_name)
        return build

    def _make_build(self, name: str, project: Mapping[str, Any], declared: Mapping[str, Any]) -> Build:
        uuid = str(uuid4())
        id = f"{name}:{uuid}"
        group = project.get("logsConfig", {}).get("cloudWatchLogs", {}).get("groupName")
        build = Build(
            id=id,
            arn=f"arn:aws:codebuild:{self.region_name}:{self.account_id}:build/{id}",
            number=len(self.build_history[name]) + 1,
            project=name,
            declared=declared,
            log=(group or f"/aws/codebuild/{name}", uuid),
        )
        build.begin("SUBMITTED")
        build.end()
        build.begin(QUEUED)
        return build

    def _run(self, build: Build) -> None:
        seconds = 60 * float(build.declared["timeoutInMinutes"])
        build.task = Task(seconds=seconds)
        process_state.current().stop_at_end(build.task)
        build.end()
        process_state.current().spawn(partial(self._see_through, build, build.task), name=f"build-{build.id}")

    def _see_through(self, build: Build, task: Task) -> None:
        try:
            run_build(build, task, account=self.account_id, region=self.region_name)
        finally:
            with turn():
                following = next_in_queue(build.machine, self._builds.values())
                if following is not None and not process_state.current().stopping.is_set():
                    self._run(following)


class EmbeddedCodeBuildResponse(CodeBuildResponse):
    """Reads requests and writes answers; moto calls each method by the name of its API call."""

    def create_project(self) -> ActionResult:
        """CreateProject, with the limit that moto does not know."""
        limit = self._get_param("concurrentBuildLimit")
        require_project_limit(limit)
        created = super().create_project()
        if limit is not None:
            project = self._backend.codebuild_projects[self._get_param("name")]
            project.project_metadata["concurrentBuildLimit"] = limit
        return created

    def start_build(self) -> ActionResult:
        """StartBuild."""
        return ActionResult({"build": self._backend.start(json.loads(self.body)).description})

    def batch_get_builds(self) -> ActionResult:
        """BatchGetBuilds."""
        ids = self._get_param("ids")
        for id in ids:
            if ":" not in id:
                raise InvalidInputException("Invalid build ID provided")
        builds, missing = self._backend.found(ids)
        return ActionResult({"builds": [each.description for each in builds], "buildsNotFound": missing})

    def stop_build(self) -> ActionResult:
        """StopBuild."""
        return ActionResult({"build": self._backend.stop(self._get_param("id")).description})

    @property
    def _backend(self) -> EmbeddedCodeBuild:
        return cast(EmbeddedCodeBuild, self.codebuild_backend)
