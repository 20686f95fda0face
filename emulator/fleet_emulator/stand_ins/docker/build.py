"""`docker build`: reads the Dockerfile and the build context, and has the image assembled."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from fleet.findings import Finding, FindingsError
from fleet.images.context import BuildContext, read_context
from fleet.images.dockerfile import DOCKERFILE, MAX_DOCKERFILE_BYTES, parse_dockerfile
from fleet.spec.image import TRITON_IMAGE
from fleet_emulator.stand_ins.docker.arguments import OUTPUT
from fleet_emulator.stand_ins.docker.assembly import BuildInput, assemble_image
from fleet_emulator.stand_ins.docker.file_tree import Content, FileTree, Node, NodeKind
from fleet_emulator.stand_ins.docker.image import DOCKER, OCI, Image
from fleet_emulator.stand_ins.docker.output import DockerError, report
from fleet_emulator.stand_ins.docker.store import ImageStore


def build_image(
    call: argparse.Namespace,
    environ: Mapping[str, str],
    store: ImageStore,
    find: Callable[[str], Image],
) -> Image:
    """The image of a call of `docker build`.

    Args:
        call: Its options.
        environ: With the values of build arguments that the call gives by their name alone.
        store: Where the layers go.
        find: The image of a name in a FROM or a `--from`.

    Raises:
        DockerError: the Dockerfile, the context or an instruction is refused.
    """
    folder = Path(call.context)
    if not folder.is_dir():
        raise DockerError(f"path {call.context!r} not found: the stand-in takes a folder as the context")
    arguments = dict(_pairs(call.build_arg, environ))
    file = Path(call.file) if call.file else folder / DOCKERFILE
    dockerfile = parse_dockerfile(
        _text(file), file, triton_image=arguments.get(TRITON_IMAGE, ""), arguments=arguments
    )
    _require_none(dockerfile.findings)
    try:
        context = read_context(folder)
    except FindingsError as error:
        raise _refusal(error.findings) from error
    _require_none(context.findings)
    report(f"transferring context: {context.size} bytes in {len(context.entries)} files")
    given = BuildInput(
        dockerfile=dockerfile,
        context=context_tree(context),
        arguments=arguments,
        labels=dict(_pairs(call.label, {})),
        target=call.target,
        types=DOCKER if call.output == OUTPUT else OCI,
        find=find,
    )
    return assemble_image(given, store)


def context_tree(context: BuildContext) -> FileTree:
    """The files that COPY finds in a build context."""
    tree = FileTree()
    for path, entry in context.copyable.items():
        if entry.target:
            tree.put(path, Node(kind=NodeKind.LINK, mode=0o777, target=entry.target))
            continue
        content = Content(file=context.folder / path, size=entry.size) if entry.size else None
        mode = 0o755 if entry.executable else 0o644
        tree.put(path, Node(kind=NodeKind.FILE, mode=mode, content=content))
    return tree


def _pairs(texts: Iterable[str], environ: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    for text in texts:
        name, equals, value = text.partition("=")
        if equals or name in environ:
            yield name, value if equals else environ[name]


def _text(file: Path) -> str:
    try:
        with file.open("rb") as opened:
            content = opened.read(MAX_DOCKERFILE_BYTES + 1)
    except OSError as error:
        raise DockerError(f"failed to read dockerfile: open {file}: {error.strerror}") from error
    if len(content) > MAX_DOCKERFILE_BYTES:
        raise DockerError(f"failed to read dockerfile: {file} is larger than {MAX_DOCKERFILE_BYTES} bytes")
    if b"\0" in content:
        raise DockerError(f"failed to read dockerfile: {file} has a NUL byte")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DockerError(f"failed to read dockerfile: {file} is not in UTF-8") from error


def _require_none(findings: Iterable[Finding]) -> None:
    if found := list(findings):
        raise _refusal(found)


def _refusal(findings: Iterable[Finding]) -> DockerError:
    return DockerError(*(line for each in findings for line in str(each).splitlines()))
