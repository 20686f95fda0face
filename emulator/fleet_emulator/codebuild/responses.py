"""CodeBuild's API calls of builds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from moto.codebuild.exceptions import InvalidInputException
from moto.codebuild.responses import CodeBuildResponse
from moto.codebuild.urls import url_bases
from moto.core.responses import ActionResult

from fleet_emulator.codebuild.limits import require_project_limit

if TYPE_CHECKING:
    from fleet_emulator.codebuild.backend import EmbeddedCodeBuild


__all__ = ["EmbeddedCodeBuildResponse", "url_bases", "url_paths"]


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
        found, missing = self._backend.found(ids)
        return ActionResult({"builds": [each.description for each in found], "buildsNotFound": missing})

    def stop_build(self) -> ActionResult:
        """StopBuild."""
        return ActionResult({"build": self._backend.stop(self._get_param("id")).description})

    @property
    def _backend(self) -> EmbeddedCodeBuild:
        return cast("EmbeddedCodeBuild", self.codebuild_backend)


url_paths = {"{0}/$": EmbeddedCodeBuildResponse.dispatch}
"""Where moto finds the API, as `url_bases`; the names are moto's."""
