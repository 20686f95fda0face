"""The templates of `--format` that the stand-in has: `{{json .A.B}}`, `{{.A.B}}` and `{{index .A 0}}`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from fleet_emulator.stand_ins.docker.output import DockerError

_ACTION = re.compile(
    r"\{\{\s*(?:(?P<function>json|index)\s+)?\.(?P<path>[\w.]*)(?:\s+(?P<key>\d+|\"[^\"]*\"))?\s*\}\}"
)


def formatted(document: Mapping[str, Any], template: str) -> str:
    """The template with its actions carried out.

    Raises:
        DockerError: the stand-in does not have an action, or the document does not have what it names.
    """
    if "{{" in _ACTION.sub("", template):
        raise DockerError(f"the stand-in does not have the template {template!r}; write {{{{json .}}}}")
    return _ACTION.sub(lambda found: _value(document, found, template), template)


def _value(document: Mapping[str, Any], action: re.Match[str], template: str) -> str:
    value: Any = document
    try:
        for name in filter(None, action["path"].split(".")):
            value = value[name]
        if action["function"] == "index":
            value = value[json.loads(action["key"] or "0")]
    except (KeyError, IndexError, TypeError) as error:
        raise DockerError(f"template: {template!r}: there is no entry for {error}") from error
    return json.dumps(value) if action["function"] == "json" or not isinstance(value, str) else value
