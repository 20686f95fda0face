"""A file of a policy, with the endpoints that its statements are about."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

from triton_fleet.catalog.images import image_regions, releases
from triton_fleet.catalog.instances import instance_types
from triton_fleet.findings import Finding, FindingsError, Severity, collect_findings
from triton_fleet.project.project import Project
from triton_fleet.project.reader import read_source
from triton_fleet.project.spec_files import policy_files
from triton_fleet.rules.policies.subject import Subject
from triton_fleet.spec.policy import Policy, Statement, When
from triton_fleet.spec.problems import did_you_mean, validate
from triton_fleet.spec.source import KeyPath, Source, finding_at


def is_of_environment(condition: When, environment: str) -> bool:
    """Whether a statement is about any endpoint of an environment."""
    return condition.environment is None or matches(condition.environment, environment)


def is_about(condition: When, subject: Subject) -> bool:
    """Whether a statement is about an endpoint: each key of `condition` matches it."""
    if not is_of_environment(condition, subject.project.environment.environment):
        return False
    if condition.owner is not None and not (subject.team and matches(condition.owner, subject.team)):
        return False
    return condition.profile is None or any(
        matches(condition.profile, profile) for profile in subject.loaded_spec.profiles
    )


@cache
def matches(patterns: tuple[str, ...], name: str) -> bool:
    """Whether one of the patterns matches the whole name; `*` stands for any text."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def join_words(words: Sequence[object], conjunction: str = "and") -> str:
    """Words as a sentence lists them: `a, b and c`."""
    *first, last = map(str, words)
    return f"{', '.join(first)} {conjunction} {last}" if first else last


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
    paths, findings = policy_files(root)
    for path in paths:
        with collect_findings(findings):
            files.append(_read(path, root))
    for file in files:
        findings += _unknown_names(project, file)
        for index, statement in enumerate(file.policy.statements):
            findings += _unmatched_patterns(file, index, statement)
    return files, findings


def _read(path: Path, root: Path) -> PolicyFile:
    source = read_source(path)
    policy = validate(Policy, source)
    if policy.policy != path.stem:
        message = f"`policy` is {policy.policy!r} in a file called {path.name}"
        hint = f"rename the file to {policy.policy}.yaml, or change `policy`"
        raise FindingsError([finding_at(source.mark(("policy",)), "FL113", message, hint)])
    return PolicyFile(policy, source, root)


def _unknown_names(project: Project, file: PolicyFile) -> Iterator[Finding]:
    """Names of environments and profiles that have no file: a statement would be about less than it seems."""
    environments = project.fleet.environments
    for subject, path, patterns in _names(file.policy):
        is_environment = path[-1] == "environment"
        for pattern in patterns or ():
            names = environments if is_environment else project.layering.profile_names
            if any(matches((pattern,), name) for name in names):
                continue
            message, mark = f"{subject} names an unknown {path[-1]}: {pattern!r}", file.source.mark(path)
            hint = did_you_mean(pattern, names, whole_list=True)
            if "*" in pattern:  # it may be of later files
                yield replace(finding_at(mark, "FL995", message, hint), severity=Severity.WARNING)
            else:
                yield finding_at(mark, "FL120" if is_environment else "FL504", message, hint)


def _names(policy: Policy) -> Iterator[tuple[str, KeyPath, Sequence[str] | None]]:
    """The lists of environments and profiles of a policy: subject, path and patterns."""
    for index, statement in enumerate(policy.statements):
        at, subject = ("statements", index, "when"), f"the statement `{statement.name}`"
        yield subject, (*at, "environment"), statement.when.environment
        yield subject, (*at, "profile"), statement.when.profile
    for index, exception in enumerate(policy.exceptions):
        yield (
            f"the exception from `{exception.statement}`",
            ("exceptions", index, "environment"),
            exception.environment,
        )


def _unmatched_patterns(file: PolicyFile, index: int, statement: Statement) -> Iterator[Finding]:
    """Patterns that allow nothing that exists, as a typing error would."""
    entries: tuple[tuple[str, Sequence[str], Suggestions], ...] = (
        ("instances", statement.instances or (), instance_types),
        ("regions", statement.regions or (), image_regions),
        ("triton.releases", tuple(statement.triton.releases) if statement.triton else (), releases),
    )
    for key, patterns, names in entries:
        for pattern in patterns:
            if not any(matches((pattern,), name) for name in names()):
                mark = file.source.mark(("statements", index, *key.split(".")))
                message = f"`{key}` of the statement `{statement.name}` allows {pattern!r}, which is unknown"
                finding = finding_at(mark, "FL995", message, did_you_mean(pattern, names()))
                yield replace(finding, severity=Severity.WARNING)
