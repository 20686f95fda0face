"""Requests of an image to BuildKit: another frontend, build arguments, secrets, the network of the host.

Sources: https://docs.docker.com/build/buildkit/frontend/ (`# syntax=` and BUILDKIT_SYNTAX name an image that
reads the Dockerfile and decides what is built); https://docs.docker.com/reference/dockerfile/ (BuildKit's own
build arguments; RUN with --mount, --device, --network and --security, of which the last three need an
entitlement; ONBUILD, whose instruction a later stage carries out).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from triton_fleet.builds.images.bases import check_digest
from triton_fleet.builds.images.dockerfile import BUILDKIT_VALUES
from triton_fleet.builds.images.inputs import ImageInputs, StageScope
from triton_fleet.builds.images.instruction import Instruction, assignments
from triton_fleet.builds.images.lines import quote
from triton_fleet.findings import Finding, Severity
from triton_fleet.spec.image import TRITON_IMAGE
from triton_fleet.spec.image_name import image_name
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.source import finding_at

FRONTENDS = ("docker/dockerfile", "docker.io/docker/dockerfile")
"""Docker's own frontend: no check can know how another image reads a Dockerfile."""
STABLE_TAG = re.compile(r"1(\.[0-9]+)*")
"""The tag of releases that Docker keeps compatible, and recommends."""
CONTROL_PREFIX = "BUILDKIT_"
"""Of arguments that control BuildKit: one of them replaces the frontend."""
OWN_ARGUMENTS = frozenset([*BUILDKIT_VALUES, "TARGETSTAGE"])
"""What BuildKit sets for every FROM, with or without an ARG."""
PROXIES = frozenset(["ALL_PROXY", "FTP_PROXY", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"])
"""Arguments that need no ARG, in any case: https://docs.docker.com/reference/dockerfile/#predefined-args."""
REFUSED_FLAGS = {
    ("network", "host"): "the network of the host",
    ("security", "insecure"): "a privileged container",
}
REFUSED_MOUNTS = {"secret": "a secret", "ssh": "an SSH agent"}


def check_frontend(inputs: ImageInputs) -> Iterator[Finding]:
    """The directive `syntax` names Docker's own frontend: a stable release, or any other by its digest."""
    directive = inputs.dockerfile.directives.get("syntax")
    if directive is None:
        return
    image = directive.value.partition(" ")[0]
    name = image_name(image)
    if name is not None and name.place in FRONTENDS:
        if not STABLE_TAG.fullmatch(name.tag):
            yield from check_digest(inputs, image, directive.line)
        return
    message = f"the directive `syntax` lets {quote(image)} read the Dockerfile in place of Docker"
    hint = f"remove the directive, or write `# syntax={FRONTENDS[0]}:1`"
    yield inputs.finding("FL982", message, directive.line, hint)


def check_arguments(inputs: ImageInputs) -> Iterator[Finding]:
    """Each argument of the spec has an ARG, and none controls BuildKit."""
    instructions = [
        instruction for instruction in inputs.dockerfile.instructions if instruction.keyword == "ARG"
    ]
    names = {name for instruction in instructions for name, _ in assignments(instruction)}
    for name in inputs.arguments:
        mark = inputs.argument_mark(name)
        if name.startswith(CONTROL_PREFIX):
            message = f"the build argument {name} controls BuildKit, which may then read another Dockerfile"
            hint = f"remove it: arguments that begin with {CONTROL_PREFIX} are not for the Dockerfile"
            yield finding_at(mark, "FL942", message, hint)
        elif name in OWN_ARGUMENTS:
            message = f"the build argument {name} replaces a value that BuildKit sets itself"
            yield finding_at(mark, "FL942", message, "choose another name, and declare it by an ARG")
        elif name not in names and name.upper() not in PROXIES:
            message = f"no ARG of {inputs.dockerfile.file} declares the build argument {name}"
            candidates = sorted(names - {TRITON_IMAGE})[:100]
            hint = (
                did_you_mean(name, candidates)
                if candidates
                else f"write `ARG {name}` in the stage that uses it"
            )
            yield replace(finding_at(mark, "FL941", message, hint), severity=Severity.WARNING)


def check_access(inputs: ImageInputs) -> Iterator[Finding]:
    """No RUN asks for what builds lack: secrets, SSH agents, devices, the host's network, privileges."""
    for stage in inputs.dockerfile.stages:
        scope = StageScope(inputs.dockerfile)
        for instruction in stage.instructions:
            scope.pass_by(instruction)
            inner = instruction.trigger or instruction
            if inner.keyword == "RUN":
                yield from _check_run(inputs, inner, scope)


def _check_run(inputs: ImageInputs, instruction: Instruction, scope: StageScope) -> Iterator[Finding]:
    for flag in instruction.flags:
        privilege = "a device" if flag[0] == "device" else REFUSED_FLAGS.get(flag)
        if privilege:
            message = f"RUN needs {privilege}, which builds do not have"
            yield inputs.finding("FL983", message, instruction.line, f"remove `--{flag[0]}={flag[1]}`")
    for mount in instruction.mounts():
        kind = (scope.resolve(mount.get("type", "bind")) or "").lower()
        if privilege := REFUSED_MOUNTS.get(kind):
            message = f"RUN mounts {privilege}, which builds do not have"
            hint = (
                "remove the mount: put what it downloads into the build context, or install from an index"
                " that needs no password"
            )
            yield inputs.finding("FL983", message, instruction.line, hint)
