"""What a rule is: a function that takes an endpoint, a model or an image and yields what is wrong with it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeAlias, TypeVar, overload

from fleet.endpoint.context.context import EndpointContext
from fleet.endpoint.context.machines import Machine
from fleet.findings import Finding, Severity
from fleet.rules.scope import ENDPOINT, Scope
from fleet.rules.themes import Theme, theme_of
from fleet.spec.source import MAX_FINDINGS, KeyPath, Mark, finding_at

DOCS = "docs/rules.md"
T = TypeVar("T")


@dataclass(frozen=True)
class Problem:
    """A place in a spec, what is wrong there, and what to write instead.

    `certain`: the facts behind it are proved; otherwise it is a warning, whatever the rule. `confidential`:
    its line is not shown.
    """

    path: KeyPath
    message: str
    hint: str = ""
    certain: bool = True
    confidential: bool = False


Check: TypeAlias = Callable[[T], Iterable[Problem]]


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule.

    `needed`: other checks depend on what it requires, so a spec cannot allow itself to break it.
    `at_deploy`: a warning while a spec is being written, an error where it is to be deployed.
    `fields`: those of config.pbtxt that it is about, if it is about models.
    """

    code: str
    name: str
    severity: Severity
    summary: str
    why: str
    source: str
    needed: bool
    at_deploy: bool
    scope: Scope[Any]
    fields: tuple[str, ...]
    check: Check[Any]

    @property
    def theme(self) -> Theme:
        """What the rule is about, by its code."""
        return theme_of(self.code)

    def problems(self, endpoint: EndpointContext) -> Iterator[Problem]:
        """What the rule finds in an endpoint, on each of its instance types that it looks at."""
        for machine in self.scope.machines(endpoint.machines):
            for subject in self.scope.of_endpoint(endpoint.on(machine)):
                for problem in self.check(subject):
                    yield _label_machine(problem, machine)

    def findings(self, endpoint: EndpointContext, *, deploying: bool = False) -> list[Finding]:
        """What the rule finds, each at its place in the spec or in the environment's file."""
        problems = islice(self.problems(endpoint), MAX_FINDINGS)
        return [self.finding(each, endpoint.source.mark(each.path), deploying) for each in problems]

    def finding(self, problem: Problem, mark: Mark, deploying: bool) -> Finding:
        """The finding about a problem, at its place."""
        found = finding_at(mark, self.code, problem.message, problem.hint)
        severity = self.severity
        if not problem.certain or (self.at_deploy and not deploying):
            severity = Severity.WARNING
        return replace(found, severity=severity, confidential=problem.confidential)


@overload
def rule(
    code: str,
    severity: Severity = Severity.ERROR,
    *,
    source: str,
    needed: bool = False,
    at_deploy: bool = False,
) -> Callable[[Check[EndpointContext]], Rule]: ...


@overload
def rule(
    code: str,
    severity: Severity = Severity.ERROR,
    *,
    source: str,
    needed: bool = False,
    at_deploy: bool = False,
    scope: Scope[T],
    fields: tuple[str, ...] = (),
) -> Callable[[Check[T]], Rule]: ...


def rule(
    code: str,
    severity: Severity = Severity.ERROR,
    *,
    source: str,
    needed: bool = False,
    at_deploy: bool = False,
    scope: Scope[Any] = ENDPOINT,
    fields: tuple[str, ...] = (),
) -> Callable[[Check[Any]], Rule]:
    """Make a rule of a function, whose name is the rule's: a noun for what it finds, read after "allow".

    The docstring's first line is the summary, the rest is the reason.

    Args:
        code: The stable code, FLnnn; `fleet rules --next THEME` prints a free one.
        severity: Of what is proved.
        source: Where the rule's facts come from.
        needed: Other checks depend on it.
        at_deploy: Only a warning until the endpoint is deployed.
        scope: What the function takes, see `fleet/rules/scope.py`.
        fields: Of a rule about models, the fields of config.pbtxt that it is about: the first that a model
            has is the place of a finding in a repository that no spec names.
    """

    def made(check: Check[Any]) -> Rule:
        summary, _, why = inspect.cleandoc(check.__doc__ or "").partition("\n\n")
        name = getattr(check, "__name__", code).replace("_", "-")
        return Rule(
            code=code,
            name=name,
            severity=severity,
            summary=summary,
            why=why,
            source=source,
            needed=needed,
            at_deploy=at_deploy,
            scope=scope,
            fields=fields,
            check=check,
        )

    return made


def _label_machine(problem: Problem, machine: Machine) -> Problem:
    """The problem at the raw property that brings the machine in, with the machine's name."""
    if not machine.label:
        return problem
    path = problem.path if problem.path[:1] == machine.path[:1] else machine.path
    return replace(problem, path=path, message=f"{machine.label}: {problem.message}")
