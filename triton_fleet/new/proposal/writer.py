"""A new spec, written only if the rules accept it in every environment, and over nothing."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from datetime import date
from pathlib import Path

from triton_fleet.check.run import draft_findings
from triton_fleet.core.files import replace_file, require_no_link
from triton_fleet.findings import CannotRunError, Finding, FindingsError, Severity, all_of
from triton_fleet.project.project import Fleet, Project, require_member
from triton_fleet.project.reader import parse_source
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
    root, source = projects[0].root, parse_source(file, text)
    require_no_link(root, file.absolute())
    drafts = [(project, project.draft_source(source)) for project in projects]
    findings = [finding for project, draft in drafts for finding in draft_findings(project, draft)]
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise FindingsError(list(dict.fromkeys(findings)))
    try:
        replace_file(file, text, root=root, overwrite=False)
    except FileExistsError as error:
        raise FindingsError([_existing_file_finding(file)]) from error
    if today is None:
        return []
    policy_refusals = dict.fromkeys(
        refusal
        for project, draft in drafts
        for refusal in refusals(project, [Subject(draft, project)], today)[draft.spec.endpoint]
    )
    return [replace(refusal, severity=Severity.WARNING) for refusal in policy_refusals]


def placed_elsewhere(findings: Iterable[Finding], file: Path, folder: Path | None) -> list[Finding]:
    """Findings, each once; those of a spec that was not written are at a folder, or have no place."""
    return list(
        dict.fromkeys(
            replace(finding, file=folder, line=None, column=None) if finding.file == file else finding
            for finding in findings
        )
    )


def _existing_file_finding(file: Path) -> Finding:
    place = file.relative_to(root_of(file) or file.parent.parent)
    message = f"{place} exists already, and is not overwritten"
    hint = "choose another name; SageMaker does not distinguish upper and lower case"
    return Finding(code="FL123", message=message, hint=hint)
