"""A new spec, written only if the rules accept it in every environment, and over nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import date
from pathlib import Path

from triton_fleet.check.run import draft_findings
from triton_fleet.core.files import require_no_link
from triton_fleet.findings import CannotRunError, Finding, FindingsError, Severity, all_of
from triton_fleet.project.project import Fleet, Project, require_member
from triton_fleet.project.spec_files import root_of, spec_files
from triton_fleet.rules.policies.check import refusals
from triton_fleet.rules.policies.subject import Subject
from triton_fleet.spec.problems import validate
from triton_fleet.spec.source import ENVIRONMENTS, FOLDER, SPECS, Source
from triton_fleet.spec.values import Document, Name


def spec_of(root: Path, endpoint: str) -> Path:
    """The spec of an endpoint.

    Raises:
        FindingsError: there is none.
    """
    files = spec_files(root).by_endpoint
    return files[require_member(endpoint, list(files), "endpoint")]


def spec_folder(root: Path, folder: str) -> Path:
    """A folder below model_specs/, which need not exist; "" for model_specs/ itself.

    Raises:
        FindingsError: it is elsewhere, or no spec in it would be read.
    """
    parts = Path(os.path.normpath(folder)).parts
    problem, hint = "", f"name a folder below {SPECS}/, such as `--folder search`"
    if parts[:1] == (SPECS,):
        problem, hint = f"it is relative to {SPECS}/", f"leave {SPECS}/ out, as in `--folder search`"
    elif Path(folder).is_absolute() or ".." in parts or not folder.isprintable():
        problem = f"it is not a folder below {SPECS}/"
    elif FOLDER in parts:
        problem, hint = f"{FOLDER} is the name of a folder's file", "choose another name"
    elif any(part.startswith(".") for part in parts):
        problem, hint = "no spec in a hidden folder is read", "choose a name without a dot at its beginning"
    place = root / SPECS
    for part in () if problem else parts:
        place /= part
        if place.is_symlink() or (place.exists() and not place.is_dir()):
            kind = "a link, and no spec in it is read" if place.is_symlink() else "a file"
            problem, hint = f"{place.relative_to(root)} is {kind}", "name another folder"
            break
    if problem:
        message = f'`--folder` is "{folder}": {problem}'
        raise FindingsError([Finding(code="FL112", message=message, hint=hint)])
    return place


class _EndpointName(Document):
    endpoint: Name
    """The fixed, public name: letters, digits and inner hyphens, at most 63."""


def new_file(root: Path, name: str, folder: Path | None = None) -> Path:
    """The path of the spec of a new endpoint, in a folder; by default in model_specs/ itself.

    Raises:
        FindingsError: an endpoint cannot be called so, or one is already.
    """
    folder = folder or root / SPECS
    try:
        validate(_EndpointName, Source(folder, {"endpoint": name}))
    except FindingsError as error:
        raise FindingsError(
            [replace(finding, file=None, line=None, column=None) for finding in error.findings]
        ) from error
    for existing_name, file in spec_files(root).by_endpoint.items():
        if existing_name.lower() == name.lower():
            raise FindingsError([_existing_file_finding(file)])
    return folder / f"{name}.yaml"


def projects_with(fleet: Fleet, name: str) -> tuple[Project, ...]:
    """All environments, which may have overrides for an endpoint that does not exist yet.

    Raises:
        FindingsError: what is wrong with them.
        CannotRunError: there is none.
    """
    names = fleet.environments
    if not names:
        raise CannotRunError(
            f"{fleet.root / ENVIRONMENTS} has no environment for which the spec can be checked",
            "write one: environments/dev.yaml",
        )
    return tuple(all_of(names, lambda environment: fleet.open(environment, (), [name])))


def write_spec(
    file: Path, text: str, projects: tuple[Project, ...], today: date | None = None
) -> list[Finding]:
    """Write a spec, whole or not at all.

    What policies refuse of it are warnings: many of them ask for what only its author knows, such as an owner
    or samples.

    Args:
        file: Where.
        text: The spec.
        projects: The environments that it is checked for.
        today: The day on which policies are checked; None: they are not.

    Returns:
        What policies refuse of it.

    Raises:
        FindingsError: the rules find errors in an environment, or the file exists by now.
        CannotRunError: its folder is, or is in, a link.
    """
    require_no_link(projects[0].root, file.absolute())
    with _beside(file, text) as draft_file:
        findings = [finding for project in projects for finding in _findings(project, draft_file)]
        if any(finding.severity is Severity.ERROR for finding in findings):
            raise FindingsError(
                list(dict.fromkeys(_without_location(finding, draft_file) for finding in findings))
            )
        try:
            os.link(draft_file, file)
        except FileExistsError as error:
            raise FindingsError([_existing_file_finding(file)]) from error
        policy_refusals = list[Finding]()
        if today is not None:
            for project in projects:
                draft = Subject(project.draft(draft_file), project)
                policy_refusals += refusals(project, [draft], today)[draft.name]
    return [
        replace(refusal, severity=Severity.WARNING, file=file if refusal.file == draft_file else refusal.file)
        for refusal in dict.fromkeys(policy_refusals)
    ]


def _findings(project: Project, draft_file: Path) -> list[Finding]:
    return draft_findings(project, project.draft(draft_file))


@contextmanager
def _beside(file: Path, text: str) -> Iterator[Path]:
    """The text in a hidden file of the same folder, which no command reads as a spec and no finding names.

    A folder that is made for it goes again if nothing else is in it.
    """
    hidden_file = file.with_name(f".{file.stem}.{os.getpid()}.yaml")
    new_folders = [folder for folder in file.parents if not folder.exists()]
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with hidden_file.open("x", encoding="utf-8") as stream:
            stream.write(text)
        yield hidden_file
    except FindingsError as error:
        raise FindingsError(
            [_without_location(finding, hidden_file) for finding in error.findings]
        ) from error
    finally:
        hidden_file.unlink(missing_ok=True)
        for folder in new_folders:
            with suppress(OSError):
                folder.rmdir()


def _without_location(finding: Finding, draft_file: Path) -> Finding:
    """Without a place in a file that is gone, and without its name."""
    if finding.file == draft_file:
        finding = replace(finding, file=None, line=None, column=None)
    message, hint = (
        text.replace(draft_file.name, "the new spec") for text in (finding.message, finding.hint)
    )
    return replace(finding, message=message, hint=hint)


def _existing_file_finding(file: Path) -> Finding:
    place = file.relative_to(root_of(file) or file.parent.parent)
    message = f"{place} exists already, and is not overwritten"
    hint = "choose another name; SageMaker does not distinguish upper and lower case"
    return Finding(code="FL123", message=message, hint=hint)
