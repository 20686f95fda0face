"""`fleet images plan` and `explain`: what images are built from, and why each has its key."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fleet.artifacts.images.base import known_base
from fleet.artifacts.images.lock import image_difference
from fleet.artifacts.images.source import ImageSource, image_sources
from fleet.artifacts.progress import shown_size
from fleet.cli.arguments import Endpoint, Endpoints, Env, OutputFormat
from fleet.cli.images.inspect import LABELS, shown_fact
from fleet.cli.output import say
from fleet.cli.selection import chosen_project
from fleet.core.project_root import project_root
from fleet.endpoint.resolve import place_of
from fleet.findings import Finding, FindingsError
from fleet.images.facts import unknown_facts
from fleet.printers.human import show_findings
from fleet.printers.lines import print_json
from fleet.spec.image import LockedImage
from fleet.spec.project import Project, load_lock, open_project
from fleet.spec.values import hexadecimal

UNKNOWN_KEY = "known once `fleet images build` and `fleet lock` have read the digest of the base"


def plan(
    env: Env,
    endpoints: Endpoints = None,
    format: Annotated[OutputFormat, typer.Option("--format", help="Text or JSON.")] = OutputFormat.HUMAN,
) -> None:
    """Show each image's key, folder and base release."""
    is_json = format is OutputFormat.JSON
    project = chosen_project(project_root(Path.cwd()), env, endpoints, may_be_empty=is_json)
    sources = image_sources(project)
    if is_json:
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
    endpoint: Endpoint,
    env: Env,
) -> None:
    """Show what the key of an image depends on, file by file.

    Also shows what the lock records of the image.
    """
    project = open_project(project_root(Path.cwd()), env, [endpoint])
    sources = image_sources(project)
    if not sources:
        message = f"{endpoint} builds no image in {env}"
        hint = "write `image: {build: FOLDER}`; the environment `local` runs this machine's Triton"
        raise FindingsError([Finding(code="FL960", message=message, hint=hint)])
    (source,) = sources
    for line in _lines(project, source):
        say(line)
    say("  the key depends on")
    base = known_base(source, _locked(project, endpoint))
    say(f"    the release's image: {base.name if base else f'{source.base.name}, by its digest'}")
    for name, value in sorted(source.arguments.items()):
        say(f"    the build argument {name}={value}")
    for each in source.context.entries:
        if each.ignored_by is None:
            say(f"    {each.path}: {f'a link to {each.target}' if each.target else each.digest}")
    say("  any other value means another image; the endpoint's name and the times of files do not matter")
    for line in _facts(_locked(project, endpoint), source):
        say(line)
    if source.warnings:
        show_findings(list(source.warnings))


def _lines(project: Project, source: ImageSource) -> list[str]:
    repository, files = place_of(project.environment).image_repository, len(source.context.entries)
    locked = _locked(project, source.endpoint)
    base = known_base(source, locked)
    key = source.key_on(base) if base else None
    return [
        source.endpoint,
        f"  key: {key or UNKNOWN_KEY}",
        f"  folder: {source.context.folder} ({files} files, {shown_size(source.context.size)})",
        f"  on: {(base or source.base).reference}",
        f"  pushed to: {repository}{f':{hexadecimal(key)}' if key else ', with the key as its tag'}",
        f"  lock: {_state(source, locked)}",
    ]


def _document(project: Project, source: ImageSource) -> dict[str, object]:
    locked = _locked(project, source.endpoint)
    base = known_base(source, locked)
    key = source.key_on(base) if base else None
    return {
        "endpoint": source.endpoint,
        "key": key,
        "folder": str(source.context.folder),
        "files": len(source.context.entries),
        "bytes": source.context.size,
        "base": (base or source.base).reference,
        "arguments": source.arguments,
        "repository": place_of(project.environment).image_repository,
        "tag": hexadecimal(key) if key else None,
        "locked": None if locked is None else locked.model_dump(mode="json", exclude_defaults=True),
    }


def _locked(project: Project, endpoint: str) -> LockedImage | None:
    try:
        return load_lock(project.lock_file(endpoint)).image
    except FindingsError:
        return None


def _state(source: ImageSource, locked: LockedImage | None) -> str:
    if locked is None:
        return "no image yet"
    difference = image_difference(source, locked)
    return f"{locked.digest}{difference and f'; {difference}'}"


def _facts(locked: LockedImage | None, source: ImageSource) -> list[str]:
    if locked is None or locked.facts is None:
        return ["  contents: known once the image is built and locked"]
    facts, unknown = locked.facts, unknown_facts(locked.facts)
    known = [(name, label) for name, label in LABELS.items() if name not in unknown]
    lines = [f"    {label}: {shown_fact(getattr(facts, name))}" for name, label in known]
    if unknown:
        lines.append(f"    unknown: {', '.join(LABELS[name] for name in unknown)}")
    return ["  contents, from the lock", *lines]
