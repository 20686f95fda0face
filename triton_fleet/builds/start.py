"""How a build is started by CodeBuild."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class BuildStart:
    """Arguments of a build's start.

    Attributes:
        project: The CodeBuild project.
        script: `BUCKET/KEY` of the build script, a zip file.
        buildspec: The text of the buildspec.
        variables: Plain environment variables, in order.
        foundation: How to create the project, if it does not exist.
    """

    project: str
    script: str
    buildspec: str
    variables: Mapping[str, str]
    foundation: str

    @property
    def request(self) -> dict[str, Any]:
        """The arguments of StartBuild, without a token."""
        return {
            "projectName": self.project,
            "sourceTypeOverride": "S3",
            "sourceLocationOverride": self.script,
            # The project's own buildspec is for a build without a source. CodeBuild API reference,
            # StartBuild: without this one, "the source code must contain a buildspec file in its root
            # directory".
            "buildspecOverride": self.buildspec,
            "environmentVariablesOverride": [
                {"name": name, "value": value, "type": "PLAINTEXT"} for name, value in self.variables.items()
            ],
        }
