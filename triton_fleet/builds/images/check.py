"""Everything that can be known to be wrong with an image before it is built, its start by SageMaker included.

Sources: https://docs.aws.amazon.com/sagemaker/latest/dg/your-algorithms-inference-code.html (the
argument `serve` in place of CMD, root users only, the exec form so that SIGTERM arrives);
https://docs.aws.amazon.com/sagemaker/latest/dg/build-multi-model-build-container.html (labels);
triton-inference-server/server, build.py (the labels and /usr/bin/serve of its images). None asks for EXPOSE.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, islice

from triton_fleet.builds.images.bases import check_bases
from triton_fleet.builds.images.buildkit import check_access, check_arguments, check_frontend
from triton_fleet.builds.images.context import changed_file
from triton_fleet.builds.images.dockerfile import DOCKERFILE
from triton_fleet.builds.images.inputs import ImageInputs
from triton_fleet.builds.images.instruction import Instruction, assignments
from triton_fleet.builds.images.lines import quote
from triton_fleet.builds.images.secrets import check_secret_files, check_secrets
from triton_fleet.builds.images.sources import check_sources
from triton_fleet.builds.images.substitution import UnresolvedError, substitute
from triton_fleet.findings import Finding, Severity
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.source import MAX_FINDINGS

ENTRYPOINT_SCRIPT = "nvidia_entrypoint.sh"
PROGRAM = "shared_container"
CAPABILITIES = "com.amazonaws.sagemaker.capabilities."
MULTI_MODEL_LABELS = (f"{CAPABILITIES}multi-models", f"{CAPABILITIES}accept-bind-to-port")
ROOT_USERS = ("root", "0")
KEEP_ENTRYPOINT = f"remove it: the release's image has one, {ENTRYPOINT_SCRIPT}, which runs `serve`"
MAX_CHECK_FINDINGS = 2000
"""Findings of one check after which nothing further is looked at."""


def check_image(inputs: ImageInputs) -> list[Finding]:
    """The findings of an image, sorted: at most MAX_FINDINGS errors and as many warnings of each check."""
    findings = chain(inputs.dockerfile.findings, inputs.context.findings, _change(inputs), _checks(inputs))
    return sorted(dict.fromkeys(findings), key=lambda item: item.sort_key)


def _change(inputs: ImageInputs) -> Iterator[Finding]:
    """The Dockerfile that is checked is the one that the context holds, and so the one that is built."""
    context_entry = next((entry for entry in inputs.context.entries if entry.path == DOCKERFILE), None)
    if context_entry is not None and context_entry.digest != inputs.dockerfile.digest:
        yield changed_file(inputs.dockerfile.file, "changed while the build context was read")


def _checks(inputs: ImageInputs) -> Iterator[Finding]:
    """Of each check some errors and some warnings: many warnings hide no error."""
    for check in CHECKS:
        findings = list(islice(check(inputs), MAX_CHECK_FINDINGS))
        errors = [finding for finding in findings if finding.severity is Severity.ERROR]
        if len(findings) == MAX_CHECK_FINDINGS and not errors:
            excess = f"more than {MAX_CHECK_FINDINGS} doubtful instructions"
            message = f"the Dockerfile has {excess}, and is not read to its end"
            errors.append(Finding(code="FL921", message=message, file=inputs.dockerfile.file))
        yield from errors[:MAX_FINDINGS]
        warnings = (finding for finding in findings if finding.severity is not Severity.ERROR)
        yield from islice(warnings, MAX_FINDINGS)


def check_start(inputs: ImageInputs) -> Iterator[Finding]:
    """The settings that the image ends up with."""
    settings, labels = _settings(inputs)
    entrypoint = settings.get("ENTRYPOINT")
    if inputs.mode is Mode.SHARED_CONTAINER:
        yield from _check_program(inputs, entrypoint)
    elif entrypoint:
        yield from _check_entrypoint(inputs, entrypoint)
    if command := settings.get("CMD"):
        message = "CMD has no effect: SageMaker runs the image with the argument `serve` in its place"
        hint = "remove it; settings of Triton are keys of the spec"
        yield inputs.finding("FL935", message, command.line, hint, Severity.WARNING)
    user = settings.get("USER")
    name = user.arguments[0] if user and user.arguments else ""
    if user and name.partition(":")[0] not in ROOT_USERS and "$" not in name:
        message = f"the image runs as {quote(name)}, but SageMaker expects containers to run as root"
        yield inputs.finding("FL936", message, user.line, _root_hint(inputs, user), Severity.WARNING)
    for label in MULTI_MODEL_LABELS if inputs.mode is Mode.MULTI_MODEL else ():
        value, line = labels.get(label, ("true", 0))
        if value != "true":
            message = f"the label {label} is {quote(value)}, but a multi-model endpoint needs `true`"
            yield inputs.finding("FL937", message, line, "remove the LABEL: the release's image has it")


def _root_hint(inputs: ImageInputs, user: Instruction) -> str:
    """Where `USER root` belongs: in place of another user, who may not be allowed to run what is below."""
    instructions = [instruction for stage in inputs.dockerfile.lineage for instruction in stage.instructions]
    below = instructions[instructions.index(user) + 1 :]
    command = next((instruction for instruction in below if instruction.keyword == "RUN"), None)
    hint = "write `USER root` in its place"
    return f"{hint}; then RUN in line {command.line} runs as root too" if command else hint


def _check_program(inputs: ImageInputs, entrypoint: Instruction | None) -> Iterator[Finding]:
    if entrypoint is None or not entrypoint.exec_form or PROGRAM not in entrypoint.arguments:
        message = "the image does not start the program of a shared container, which routes calls to models"
        hint = f'end the Dockerfile like that of containers/shared: ENTRYPOINT ["python3", "-m", "{PROGRAM}"]'
        yield inputs.finding("FL984", message, entrypoint.line if entrypoint else 1, hint)


def _settings(inputs: ImageInputs) -> tuple[dict[str, Instruction], dict[str, tuple[str, int]]]:
    """The last instruction of each keyword, and labels with their lines; of values that are known."""
    settings, labels = dict[str, Instruction](), dict[str, tuple[str, int]]()
    for stage in inputs.dockerfile.lineage:
        for instruction in stage.instructions:
            settings[instruction.keyword] = instruction
            for name, raw in assignments(instruction) if instruction.keyword == "LABEL" else ():
                try:
                    value = substitute(raw or "", {}, inputs.dockerfile.escape)
                except UnresolvedError:
                    continue
                if not value.unset:
                    labels[name.strip("\"'")] = (value.text, instruction.line)
    return settings, labels


def _check_entrypoint(inputs: ImageInputs, entrypoint: Instruction) -> Iterator[Finding]:
    if not entrypoint.exec_form:
        message = "ENTRYPOINT is a shell command, which gets neither the argument `serve` nor SIGTERM"
        hint = f'{KEEP_ENTRYPOINT}; or write the exec form, ENTRYPOINT ["PROGRAM", "ARGUMENT"]'
        yield inputs.finding("FL934", message, entrypoint.line, hint)
    elif not _runs_serve(inputs, entrypoint.arguments):
        message = "ENTRYPOINT replaces the one that starts Triton with the settings of the endpoint"
        hint = f'{KEEP_ENTRYPOINT}; if you need it, let your script end with `exec "$@"`'
        yield inputs.finding("FL934", message, entrypoint.line, hint, Severity.WARNING)


def _runs_serve(inputs: ImageInputs, arguments: Sequence[str]) -> bool:
    """Whether an ENTRYPOINT runs SageMaker's argument: an empty one, the release's, and some own scripts.

    A script is recognised by its name among the files of the context.
    """
    if not arguments or (len(arguments) == 1 and arguments[0].endswith(f"/{ENTRYPOINT_SCRIPT}")):
        return True
    script = arguments[-1].rpartition("/")[2]
    entries = [entry for path, entry in inputs.context.copyable.items() if path.split("/")[-1] == script]
    return bool(entries) and all(entry.starts_triton for entry in entries)


CHECKS = (
    check_frontend,
    check_bases,
    check_sources,
    check_access,
    check_secrets,
    check_secret_files,
    check_start,
    check_arguments,
)
