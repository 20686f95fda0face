"""`fleet images plan` and `explain`: what images are built from, and why each has its key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fleet.artifacts.images.source import ImageSource, image_sources
from fleet.artifacts.progress import shown_size
from fleet.cli.arguments import Endpoints, Env, OutputFormat
from fleet.cli.output import say
from fleet.core.project_root import project_root
from fleet.endpoint.resolve import place_of
from fleet.findings import Finding, FindingsError
from fleet.images.facts import unknown_facts
from fleet.printers.human import show_findings
from fleet.printers.lines import print_json
from fleet.spec.image import LockedImage
from fleet.spec.project import Project, load_lock, open_project
from fleet.spec.values import hexadecimal


def plan(
    env: Env,
    endpoints: Endpoints = None,
    format: Annotated[
        OutputFormat, typer.Option("--format", help="For a person, or JSON.")
    ] = OutputFormat.HUMAN,
) -> None:
    """Show each image: its key, its folder, and the release that it is built on; nothing is built."""
    project = open_project(project_root(Path.cwd()), env, endpoints or ())
    sources = image_sources(project)
    if format is OutputFormat.JSON:
        print_json([_document(project, each) for each in sources])
        return
    for each in sources:
        for line in _lines(project, each):
            say(line)
    if warnings := [warning for each in sources for warning in each.warnings]:
        show_findings(warnings)
    if not sources:
        say(f"{env}: no images to build in {', '.join(project.endpoints) or 'model_specs/'}")


def explain(
    endpoint: Annotated[str, typer.Argument(help="Endpoint name: a file in model_specs/ without .yaml.")],
    env: Env,
) -> None:
    """Show what the key of an image follows from, file by file, and what the lock knows of the image."""
    project = open_project(project_root(Path.cwd()), env, [endpoint])
    sources = image_sources(project)
    if not sources:
        message = f"{endpoint} builds no image in {env}"
        hint = "write `image: {build: FOLDER}`; the environment `local` runs this machine's Triton"
        raise FindingsError([Finding(code="FL960", message=message, hint=hint)])
    (source,) = sources
    for line in _lines(project, source):
        say(line)
    say("  the key follows from")
    say(f"    the release's image: {source.base.name}")
    for name, value in sorted(source.arguments.items()):
        say(f"    the build argument {name}={value}")
    for each in source.context.entries:
        if each.ignored_by is None:
            say(f"    {each.path}: {f'a link to {each.target}' if each.target else each.digest}")
    say("  another value gives another image; the endpoint's name and times of files do not matter")
    for line in _facts(_locked(project, endpoint), source):
        say(line)
    if source.warnings:
        show_findings(list(source.warnings))


def _lines(project: Project, source: ImageSource) -> list[str]:
    repository, files = place_of(project.environment).image_repository, len(source.context.entries)
    return [
        source.endpoint,
        f"  key: {source.key}",
        f"  folder: {source.context.folder} ({files} files, {shown_size(source.context.size)})",
        f"  on: {source.base.reference}",
        f"  pushed to: {repository}:{hexadecimal(source.key)}",
        f"  lock: {_state(_locked(project, source.endpoint), source)}",
    ]


def _document(project: Project, source: ImageSource) -> dict[str, object]:
    locked = _locked(project, source.endpoint)
    return {
        "endpoint": source.endpoint,
        "key": source.key,
        "folder": str(source.context.folder),
        "files": len(source.context.entries),
        "bytes": source.context.size,
        "base": source.base.reference,
        "arguments": source.arguments,
        "repository": place_of(project.environment).image_repository,
        "tag": hexadecimal(source.key),
        "locked": None if locked is None else locked.model_dump(mode="json", exclude_defaults=True),
    }


def _locked(project: Project, endpoint: str) -> LockedImage | None:
    try:
        return load_lock(project.lock_file(endpoint)).image
    except FindingsError:
        return None


def _state(locked: LockedImage | None, source: ImageSource) -> str:
    if locked is None:
        return "it names no image yet"
    return f"{locked.digest}" + ("" if locked.key == source.key else ", of another key: the folder changed")


def _facts(locked: LockedImage | None, source: ImageSource) -> list[str]:
    if locked is None or locked.facts is None:
        return ["  what is inside is known once it is built and locked"]
    shown = locked.facts.model_dump(mode="json", exclude={"packages"}, exclude_none=True)
    lines = ["  inside, by the lock", *(f"    {name}: {_text(value)}" for name, value in shown.items())]
    packages = locked.facts.packages or {}
    lines += [f"    Python packages: {len(packages)}"] if packages else []
    unknown = unknown_facts(locked.facts)
    return [*lines, f"    unknown: {', '.join(unknown)}"] if unknown else lines


def _text(value: object) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
