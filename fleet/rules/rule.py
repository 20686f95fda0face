"""What a rule is: a function that looks at one endpoint and yields what is wrong with it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from functools import wraps
from itertools import islice
from typing import TypeAlias

from fleet.endpoint.context.context import EndpointContext
from fleet.endpoint.context.machines import OWN_VARIANT, Machine
from fleet.findings import Finding, Severity
from fleet.rules.themes import Theme, theme_of
from fleet.spec.source import MAX_FINDINGS, KeyPath, finding_at

DOCS = "docs/rules.md"


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


Check: TypeAlias = Callable[[EndpointContext], Iterable[Problem]]


class Scope(Enum):
    """What a rule looks at, one after the other: the endpoint, or those of its machines that it is about."""

    ENDPOINT = auto()
    """The endpoint once, on its spec's own instance type."""
    VARIANT = auto()
    """Each variant once, on its first instance type."""
    POOL = auto()
    """Each instance type of the spec's own variant, as it is scaled and updated."""
    CONTAINER = auto()
    """Each instance type on which the model of the spec runs."""
    MACHINE = auto()
    """Each instance type, whatever runs on it."""

    def of(self, endpoint: EndpointContext) -> Sequence[Machine]:
        """Those of an endpoint's machines."""
        machines = endpoint.machines
        if len(machines) == 1:  # the spec's own, of which all are about
            return machines
        match self:
            case Scope.ENDPOINT:
                return machines[:1]
            case Scope.VARIANT:
                variants = [each.variant for each in machines]
                return [each for n, each in enumerate(machines) if each.variant not in variants[:n]]
            case Scope.POOL:
                return [each for each in machines if each.variant == OWN_VARIANT]
            case Scope.CONTAINER:
                return [each for each in machines if each.runs_model]
            case Scope.MACHINE:
                return machines


@dataclass(frozen=True, kw_only=True)
class Rule:
    """One rule.

    `needed`: other checks depend on what it requires, so a spec cannot allow itself to break it.
    `at_deploy`: a warning while a spec is being written, an error where it is to be deployed.
    """

    code: str
    name: str
    severity: Severity
    summary: str
    why: str
    source: str
    needed: bool
    at_deploy: bool
    check: Check

    @property
    def theme(self) -> Theme:
        """What the rule is about, by its code."""
        return theme_of(self.code)

    def findings(self, endpoint: EndpointContext, *, deploying: bool = False) -> list[Finding]:
        """What the rule finds, each at its place in the spec or in the environment's file."""
        problems = list(islice(self.check(endpoint), MAX_FINDINGS))
        return [self._finding(endpoint, each, deploying) for each in problems] if problems else []

    def _finding(self, endpoint: EndpointContext, problem: Problem, deploying: bool) -> Finding:
        found = finding_at(endpoint.source.mark(problem.path), self.code, problem.message, problem.hint)
        severity = self.severity
        if not problem.certain or (self.at_deploy and not deploying):
            severity = Severity.WARNING
        return replace(found, severity=severity, confidential=problem.confidential)


def rule(
    code: str,
    severity: Severity = Severity.ERROR,
    *,
    source: str,
    needed: bool = False,
    at_deploy: bool = False,
    scope: Scope = Scope.ENDPOINT,
) -> Callable[[Check], Rule]:
    """Make a rule of a function, whose name is the rule's: a noun for what it finds, read after "allow".

    The docstring's first line is the summary, the rest is the reason.

    Args:
        code: The stable code, FLnnn; `fleet rules --next THEME` prints a free one.
        severity: Of what is proved.
        source: Where the rule's facts come from.
        needed: Other checks depend on it.
        at_deploy: Only a warning until the endpoint is deployed.
        scope: What the function looks at; it sees the endpoint on one machine at a time.
    """

    def made(check: Check) -> Rule:
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
            check=check if scope is Scope.ENDPOINT else _on_machines(scope, check),
        )

    return made


def _on_machines(scope: Scope, check: Check) -> Check:
    @wraps(check)
    def on_machines(endpoint: EndpointContext) -> Iterator[Problem]:
        for machine in scope.of(endpoint):
            for problem in check(endpoint.on(machine)):
                yield _label_machine(problem, machine)

    return on_machines


def _label_machine(problem: Problem, machine: Machine) -> Problem:
    """The problem at the raw property that brings the machine in, with the machine's name."""
    if not machine.label:
        return problem
    path = problem.path if problem.path[:1] == machine.path[:1] else machine.path
    return replace(problem, path=path, message=f"{machine.label}: {problem.message}")
