"""One environment in one of both commits of a change."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path

from triton_fleet.changes.endpoint_change import Revision
from triton_fleet.changes.templates import Template
from triton_fleet.check.run import all_findings
from triton_fleet.endpoint.environment import environment_findings
from triton_fleet.endpoint.locks import locked_context
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.product.synthesis import Installation, project_templates
from triton_fleet.project.project import Fleet, Project
from triton_fleet.selection.paths import FleetInputs, FleetPaths, Selection
from triton_fleet.spec.environment import Environment

OF_ENDPOINTS = ("overrides", "defaults", "endpoints")
"""Keys of an environment whose effect is in the specs of its endpoints."""


@dataclass(frozen=True, kw_only=True)
class EnvironmentSide:
    """An environment in one commit.

    Attributes:
        root: The fleet's folder.
        project: None where the commit does not have the environment, or cannot be read.
        problem: Why it cannot be read; "" if it can, or does not exist.
    """

    root: Path
    project: Project | None = None
    problem: str = ""

    @property
    def settings(self) -> dict[str, object]:
        """The settings of the environment for all of its endpoints alike."""
        return self.project.environment.model_dump(exclude=set(OF_ENDPOINTS)) if self.project else {}

    def endpoints_of(self, files: Iterable[Path]) -> tuple[str, ...]:
        """The endpoints that some files, relative to the fleet, are a part of."""
        project = self.project
        if project is None:
            return ()
        paths = FleetPaths(
            project.fleet,
            project.environment.environment,
            endpoints_of=FleetInputs(project).possible_endpoints_of,
            tree=self.root,
            drafts=False,
        )
        selection = Selection.union(paths.of_file(self.root / file) for file in files)
        return tuple(name for name in project.endpoints if name in {*selection.endpoints})

    def revisions(self, names: Sequence[str], environment: Environment) -> dict[str, Revision]:
        """Those of the endpoints that this commit has, not synthesised yet.

        Args:
            names: The endpoints.
            environment: What stands for the environment where this commit's cannot be read.
        """
        if self.project is None:
            unreadable = Revision(
                root=self.root, environment=environment, loaded_spec=None, problem=self.problem
            )
            return dict.fromkeys(names, unreadable) if self.problem else {}
        return {name: _revision(self.project, name) for name in names if name in self.project.endpoints}

    def templates(self, python: Installation, names: Sequence[str]) -> Mapping[str, Template]:
        """The templates of endpoints by their names, and that of the stack that they share under "".

        Raises:
            CannotRunError: the app failed, or is of a version that makes other stacks.
        """
        if self.project is None or environment_findings(self.project):
            return {}
        return project_templates(python, self.project, names)

    def findings(self, names: Sequence[str], today: date) -> list[Finding]:
        """The findings, with files relative to the fleet; repositories are not read."""
        if self.project is None:
            return []
        mine = tuple(name for name in names if name in self.project.endpoints)
        own_findings = all_findings(replace(self.project, endpoints=mine), trusts_locks=True, today=today)
        return [self.relative(own_finding) for own_finding in own_findings]

    def relative(self, finding: Finding) -> Finding:
        """A finding with its file, and those that it names, relative to the fleet."""
        file = finding.file
        if file is not None and file.is_relative_to(self.root):
            file = file.relative_to(self.root)
        message, hint = (text.replace(f"{self.root}/", "") for text in (finding.message, finding.hint))
        return replace(finding, file=file, message=message, hint=hint)


def head_side(fleet: Fleet, name: str, base: EnvironmentSide) -> EnvironmentSide:
    """An environment as the work tree has it.

    Raises:
        FindingsError: it is wrong, or neither commit has it.
    """
    is_removed = name not in fleet.environments and (base.project or base.problem)
    return EnvironmentSide(root=fleet.root, project=None if is_removed else fleet.open(name))


def base_side(fleet: Fleet, name: str) -> EnvironmentSide:
    """An environment as the base has it, which may have been wrong."""
    if name not in fleet.environments:
        return EnvironmentSide(root=fleet.root)
    try:
        return EnvironmentSide(root=fleet.root, project=fleet.open(name))
    except FindingsError as error:
        return EnvironmentSide(
            root=fleet.root, problem=f"the base cannot be read: {error.findings[0].message}"
        )


def _revision(project: Project, name: str) -> Revision:
    """An endpoint with why it cannot be synthesised, if it cannot."""
    revision = Revision(root=project.root, environment=project.environment, loaded_spec=None)
    try:
        spec = project.load(name)
        revision = replace(revision, loaded_spec=spec, lock=locked_context(project, spec)[0].lock)
        resolve_project(replace(project, endpoints=(name,), findings=()))
    except FindingsError as error:
        first = error.findings[0]
        return replace(revision, problem=f"{first.code}: {first.message}".replace(f"{project.root}/", ""))
    return revision
