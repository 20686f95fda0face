"""The images that a build reads: from registries that are allowed, by their digest, for the right platform.

The last stage is based on Triton of the spec's release.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from triton_fleet.builds.images.dockerfile import Stage
from triton_fleet.builds.images.inputs import ImageInputs
from triton_fleet.builds.images.lines import MAX_SHOWN_CHARACTERS, quote
from triton_fleet.catalog.images import TRITON_REPOSITORY
from triton_fleet.context.registries import (
    NVIDIA,
    build_place,
    ecr_account,
    is_allowed_in_build,
    is_fleet_repository,
)
from triton_fleet.findings import Finding, Severity
from triton_fleet.spec.image import PLATFORM, TRITON_IMAGE
from triton_fleet.spec.image_name import ImageName, image_name

WITHOUT_SERVER = ("-sdk", "-min")
"""Tags of NVIDIA's repository that hold clients or the base of a build, and no server."""
SERVER_FOLDER = "/opt/tritonserver"
SCRATCH = "scratch"
USE_TRITON_IMAGE = f"write `ARG {TRITON_IMAGE}` above the first FROM, and `FROM ${{{TRITON_IMAGE}}}`"
COPY_FILES = "copy the files into the folder of the Dockerfile"
_RELEASE = re.compile(r"(\d\d\.\d\d)-.+")


def check_bases(inputs: ImageInputs) -> Iterator[Finding]:
    """Each stage's base; that of the last one is a Triton image of the spec's release."""
    lineage = inputs.dockerfile.lineage
    lineage_indices = {base_stage.index for base_stage in lineage}
    for stage in inputs.dockerfile.stages:
        line = stage.start.line
        if stage.unset:
            name = min(stage.unset)[:MAX_SHOWN_CHARACTERS]
            message = f"FROM {quote(stage.base)} cannot be built: {name} has no value before the first FROM"
            hint = f"write `ARG {name}` above the first FROM, and give it a value here or in the spec"
            yield inputs.finding("FL921", message, line, hint)
        elif stage.image and stage.below is None and stage.image != inputs.dockerfile.triton_image:
            if lineage and stage.index == lineage[0].index:
                yield from _check_final(inputs, stage, stage.image)
            yield from check_image_name(inputs, stage.image, line)
        if stage.platform and stage.platform != PLATFORM:
            yield _platform_finding(inputs, stage, is_inherited=stage.index in lineage_indices)


def _platform_finding(inputs: ImageInputs, stage: Stage, *, is_inherited: bool) -> Finding:
    """Another platform: wrong for what the image has of the stage, unless that is data."""
    platform, hint = quote(stage.platform), f"remove `--platform`, or write {PLATFORM}"
    if is_inherited:
        message = f"the platform {platform} is not {PLATFORM}, which the endpoint's instances run"
        return inputs.finding("FL927", message, stage.start.line, hint)
    message = f"the stage is for {platform}: copy data from it, as its programs do not run on {PLATFORM}"
    return inputs.finding("FL927", message, stage.start.line, hint, Severity.WARNING)


def check_image_name(inputs: ImageInputs, image: str, line: int) -> Iterator[Finding]:
    """An image that the build reads: its place is allowed, and its tag cannot move."""
    if image in (SCRATCH, inputs.dockerfile.triton_image):
        return
    name = image_name(image)
    if name is None:
        message = f"{quote(image)} does not show which registry the image is from"
        yield inputs.finding("FL944", message, line, "write REGISTRY/NAME:TAG@sha256:..., without variables")
    elif is_fleet_repository(name.repository):
        message = f"{quote(image)} is in a repository of images that a fleet has built for its endpoints"
        hint = f"{COPY_FILES}: no environment can allow such a repository"
        yield inputs.finding("FL943", message, line, hint)
    elif not is_allowed_in_build(name, inputs.environment):
        place, environment = build_place(name), inputs.environment
        account = ecr_account(place.partition("/")[0], environment.region)
        text = f"{quote(image)} is at {place[:MAX_SHOWN_CHARACTERS]}"
        message = f"{text}, which the environment does not allow"
        entry = f'"{account}"' if account else place.rpartition("/")[0][:MAX_SHOWN_CHARACTERS]
        hint = f"add {entry} to `allowed_registries` in {environment.file}: a spec cannot `allow` it"
        if account == environment.account:
            hint = f"{COPY_FILES}: builds may not pull from the environment's account"
        yield inputs.finding("FL944", message, line, hint)
    yield from check_digest(inputs, image, line)


def check_digest(inputs: ImageInputs, image: str, line: int) -> Iterator[Finding]:
    """Warn of an image whose tag may name another content tomorrow."""
    name = image_name(image)
    if image == SCRATCH or (name is not None and name.digest):
        return
    message = f"the tag of {quote(image)} may move, and the image would not be built again when it does"
    hint = "add the digest: `docker buildx imagetools inspect IMAGE` prints it; write IMAGE:TAG@sha256:..."
    yield inputs.finding("FL926", message, line, hint, Severity.WARNING)


def _check_final(inputs: ImageInputs, stage: Stage, image: str) -> Iterator[Finding]:
    line, image_text, base = stage.start.line, quote(image), image_name(image)
    if base is None or not _is_triton(base):
        message = f"the image is based on {image_text}, which is not a known image of Triton"
        if base is not None and base.tag.endswith(WITHOUT_SERVER) and base.place == NVIDIA:
            message = f"the image is based on {image_text}, which has no Triton server"
        # Triton's own compose.py copies a server onto an image without one.
        severity = Severity.WARNING if _copies_server(inputs) else Severity.ERROR
        yield inputs.finding("FL924", message, line, USE_TRITON_IMAGE, severity)
        return
    match = _RELEASE.fullmatch(base.tag)
    if match is not None and match[1] != inputs.release:
        message = f"the image is based on Triton {match[1]}, but `triton` in the spec is {inputs.release}"
        hint = f'{USE_TRITON_IMAGE}; or set `triton: "{match[1]}"` in the spec'
        yield inputs.finding("FL925", message, line, hint)
    elif match is None and not base.digest:
        message = f"{image_text} does not name a release, and `triton` of the spec is {inputs.release}"
        yield inputs.finding("FL925", message, line, USE_TRITON_IMAGE)


def _is_triton(name: ImageName) -> bool:
    """Whether a Triton server is in an image, by its name."""
    is_triton_place = name.place == NVIDIA or name.repository.rpartition("/")[2] == TRITON_REPOSITORY
    return is_triton_place and not name.tag.endswith(WITHOUT_SERVER)


def _copies_server(inputs: ImageInputs) -> bool:
    """Whether the image gets a server from another stage or image."""
    instructions = (instruction for stage in inputs.dockerfile.lineage for instruction in stage.instructions)
    copies = (
        instruction
        for instruction in instructions
        if instruction.keyword == "COPY" and instruction.flag("from") is not None
    )
    return any(source.startswith(SERVER_FOLDER) for copy in copies for source in copy.arguments[:-1])
