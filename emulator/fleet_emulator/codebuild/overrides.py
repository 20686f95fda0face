"""What StartBuild may override of its project, and what is not supported here.

Source: CodeBuild API reference, StartBuild.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from moto.codebuild.exceptions import InvalidInputException

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
