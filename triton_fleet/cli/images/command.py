"""`fleet images plan` and `explain`: what images are built from, and why each has its key."""

from __future__ import annotations

from typing import Annotated

import typer

from triton_fleet.builds.images.facts import unknown_facts
from triton_fleet.cli.arguments import Endpoint, Endpoints, Env, OutputFormat
from triton_fleet.cli.current_fleet import current_fleet, current_project
from triton_fleet.cli.images.builds import build, ls
from triton_fleet.cli.images.inspect import LABELS, inspect, shown_fact
from triton_fleet.cli.output import say
from triton_fleet.cli.selection import chosen_project
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.printers.human import show_findings
from triton_fleet.printers.lines import print_json
from triton_fleet.project.project import Project
from triton_fleet.spec.image import LockedImage
from triton_fleet.spec.values import hexadecimal
from triton_fleet.store.images.source import (
    ImageSource,
    image_difference,
    image_sources,
    lock_of_image,
    wanted_images,
)
from triton_fleet.store.progress import shown_size

DIGEST_AT_BUILD = "by the digest that its tag has when the image is built"


def plan(
    env: Env,
    endpoints: Endpoints = None,
    format: Annotated[OutputFormat, typer.Option("--format", help="Text or JSON.")] = OutputFormat.HUMAN,
) -> None:
    """Show each image's key, folder and base release."""
    is_json = format is OutputFormat.JSON
    project = chosen_project(current_fleet(), env, endpoints, may_be_empty=is_json)
    sources = image_sources(project)
    if is_json:
        print_json([_document(project, source) for source in sources])
        return
    for source in sources:
        for line in _lines(project, source):
            say(line)
    if warnings := [warning for source in sources for warning in source.warnings]:
        show_findings(warnings)
    if not sources:
        say(f"{env}: no images to build in {', '.join(project.endpoints) or 'model_specs/'}")


def explain(
    endpoint: Endpoint,
    env: Env,
) -> None:
    """Show what the key of an image depends on, file by file.

    Also shows what the lock records of the image.
    """
    project = current_project(env, endpoint)
    sources = image_sources(project)
    if not sources:
        message = f"{endpoint} builds no image in {env}"
        hint = "write `image: {build: FOLDER}`; the environment `local` runs this machine's Triton"
        raise FindingsError([Finding(code="FL960", message=message, hint=hint)])
    (source,) = sources
    for line in _lines(project, source):
        say(line)
    say("  the key depends on")
    say(f"    the release's image: {source.base.name}")
    for name, value in sorted(source.arguments.items()):
        say(f"    the build argument {name}={value}")
    for entry in source.context.entries:
        if entry.ignored_by is None:
            say(f"    {entry.path}: {f'a link to {entry.target}' if entry.target else entry.digest}")
    say("  any other value means another image; the endpoint's name and the times of files do not matter")
    for line in _facts(lock_of_image(project, endpoint)):
        say(line)
    if source.warnings:
        show_findings(list(source.warnings))


def _lines(project: Project, source: ImageSource) -> list[str]:
    repository, files = project.deployment.image_repository, len(source.context.entries)
    (image,) = wanted_images(project, [source])
    return [
        source.endpoint,
        f"  key: {image.key}",
        f"  folder: {source.context.folder} ({files} files, {shown_size(source.context.size)})",
        f"  on: {image.base.reference}{'' if image.base.digest else f', {DIGEST_AT_BUILD}'}",
        f"  pushed to: {repository}:{hexadecimal(image.key)}",
        f"  lock: {_state(source, lock_of_image(project, source.endpoint))}",
    ]


def _document(project: Project, source: ImageSource) -> dict[str, object]:
    lock = lock_of_image(project, source.endpoint)
    (image,) = wanted_images(project, [source])
    return {
        "endpoint": source.endpoint,
        "key": image.key,
        "folder": str(source.context.folder),
        "files": len(source.context.entries),
        "bytes": source.context.size,
        "base": image.base.reference,
        "arguments": source.arguments,
        "repository": project.deployment.image_repository,
        "tag": hexadecimal(image.key),
        "locked": None if lock is None else lock.model_dump(mode="json", exclude_defaults=True),
    }


def _state(source: ImageSource, lock: LockedImage | None) -> str:
    if lock is None:
        return "no image yet"
    difference = image_difference(source, lock)
    return f"{lock.digest or 'not built when it was written'}{difference and f'; {difference}'}"


def _facts(lock: LockedImage | None) -> list[str]:
    if lock is None or lock.contents is None:
        return ["  contents: known once the image is built and locked"]
    facts, unknown = lock.contents, unknown_facts(lock.contents)
    labelled_facts = [(name, label) for name, label in LABELS.items() if name not in unknown]
    lines = [f"    {label}: {shown_fact(getattr(facts, name))}" for name, label in labelled_facts]
    if unknown:
        lines.append(f"    unknown: {', '.join(LABELS[name] for name in unknown)}")
    return [f"  contents, from the lock{'' if lock.facts else ', as expected of a build'}", *lines]


app = typer.Typer(help="Plan, build and inspect your own container images.", no_args_is_help=True)

for command in (build, explain, inspect, ls, plan):
    app.command()(command)
