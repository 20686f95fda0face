"""The policies of a fleet, and what is wrong with their files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fleet.catalog.images import image_regions, releases
from fleet.catalog.instances import instance_types
from fleet.findings import Finding, FindingsError, Severity
from fleet.policies.scope import matches
from fleet.spec.layers import Layering
from fleet.spec.policy import Policy, Statement
from fleet.spec.problems import did_you_mean, validate
from fleet.spec.project import Project, environment_names
from fleet.spec.reader import read_source
from fleet.spec.source import KeyPath, Source, finding_at
from fleet.spec.spec_files import POLICIES, yaml_stems

Suggestions = Callable[[], Sequence[str]]


@dataclass(frozen=True)
class PolicyFile:
    """A policy with the place of each of its keys; `root` is the fleet's folder."""

    policy: Policy
    source: Source
    root: Path

    def line(self, path: KeyPath) -> str:
        """Where a key stands, such as `policies/platform.yaml:7`."""
        mark = self.source.mark(path)
        return f"{mark.file.relative_to(self.root).as_posix()}:{mark.line}"

    @property
    def owner(self) -> str:
        """Who decides on it, such as `platform (platform@example.com)`."""
        owner = self.policy.owner
        return f"{owner.team} ({owner.contact})" if owner.contact else owner.team


def read_policies(project: Project) -> tuple[list[PolicyFile], list[Finding]]:
    """The policies of a fleet, by file, and what is wrong with those that cannot be read or name nothing."""
    root, files = project.root, list[PolicyFile]()
    stems, findings = yaml_stems(root / POLICIES)
    for stem in stems:
        try:
            files.append(_read(root / POLICIES / f"{stem}.yaml", root))
        except FindingsError as error:
            findings += error.findings
    for file in files:
        for index, statement in enumerate(file.policy.statements):
            findings += _unknown_names(project, file, index, statement)
            findings += _unmatched_patterns(file, index, statement)
    return files, findings


def _read(path: Path, root: Path) -> PolicyFile:
    source = read_source(path)
    policy = validate(Policy, source)
    if policy.policy != path.stem:
        message = f"`policy` is {policy.policy!r} in a file called {path.name}"
        hint = f"write `policy: {path.stem}`, or rename the file"
        raise FindingsError([finding_at(source.mark(("policy",)), "FL113", message, hint)])
    return PolicyFile(policy, source, root)


def _unknown_names(project: Project, file: PolicyFile, index: int, statement: Statement) -> Iterator[Finding]:
    """Names of `when` that have no file: the statement would be about less than it seems to be."""
    layering: Layering = project.layering
    known: tuple[tuple[str, str, Suggestions], ...] = (
        ("environment", "FL120", lambda: environment_names(project.root)),
        ("profile", "FL504", layering.profile_names),
    )
    for key, code, names in known:
        for pattern in getattr(statement.when, key) or ():
            if "*" not in pattern and pattern not in (there := names()):
                mark = file.source.mark(("statements", index, "when", key))
                message = f"the statement `{statement.name}` is about an unknown {key}: {pattern!r}"
                yield finding_at(mark, code, message, did_you_mean(pattern, there, list_all=True))


def _unmatched_patterns(file: PolicyFile, index: int, statement: Statement) -> Iterator[Finding]:
    """Patterns that allow nothing that exists, as a typing error would."""
    written: tuple[tuple[str, Sequence[str], Suggestions], ...] = (
        ("instances", statement.instances or (), instance_types),
        ("regions", statement.regions or (), image_regions),
        ("triton.releases", tuple(statement.triton.releases) if statement.triton else (), releases),
    )
    for key, patterns, known in written:
        for pattern in patterns:
            if not any(matches((pattern,), each) for each in known()):
                mark = file.source.mark(("statements", index, *key.split(".")))
                message = f"`{key}` of the statement `{statement.name}` allows {pattern!r}, which is unknown"
                hint = did_you_mean(pattern, known())
                yield Finding(
                    code="FL995",
                    severity=Severity.WARNING,
                    message=message,
                    hint=hint,
                    file=mark.file,
                    line=mark.line,
                    column=mark.column,
                )
