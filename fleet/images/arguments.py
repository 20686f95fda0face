"""The build arguments that a spec passes to a Dockerfile."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fleet.findings import Finding, Severity
from fleet.images.dockerfile import TRITON_IMAGE
from fleet.images.inputs import ImageInputs
from fleet.images.instruction import assignments
from fleet.spec.problems import did_you_mean
from fleet.spec.source import finding_at

PROXIES = frozenset(["ALL_PROXY", "FTP_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"])
"""Arguments that need no ARG, in any case: https://docs.docker.com/reference/dockerfile/#predefined-args."""


def check_arguments(inputs: ImageInputs) -> Iterator[Finding]:
    """Each argument of the spec has an ARG, and none is the one that the build passes itself."""
    instructions = [each for each in inputs.dockerfile.instructions if each.keyword == "ARG"]
    declared = {name for each in instructions for name, _ in assignments(each)}
    for name in inputs.arguments:
        mark = inputs.argument_mark(name)
        if name == TRITON_IMAGE:
            message = f"the build argument {TRITON_IMAGE} is always the image of the spec's release"
            yield finding_at(mark, "FL942", message, "remove it, and set `triton` to another release")
        elif name not in declared and name.upper() not in PROXIES:
            message = f"no ARG of {inputs.dockerfile.file} takes the build argument {name}"
            known = sorted(declared - {TRITON_IMAGE})[:100]
            hint = did_you_mean(name, known) if known else f"write `ARG {name}` in the stage that uses it"
            yield replace(finding_at(mark, "FL941", message, hint), severity=Severity.WARNING)
