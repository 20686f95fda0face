"""Endpoints compared with the policies of their fleet, on a day."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from functools import cached_property, partial

from triton_fleet.findings import Finding, Severity, with_endpoints
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.rules.policies.breach import Breach, breach_finding
from triton_fleet.rules.policies.exceptions import Exceptions
from triton_fleet.rules.policies.file import PolicyFile, is_about, is_of_environment, read_policies
from triton_fleet.rules.policies.limits import (
    amount,
    computed_costs,
    cost_text,
    exact,
    limit_breaches,
    money,
    monthly_cost,
    unpriced_cost,
)
from triton_fleet.rules.policies.requirements import requirement_breaches, security_breaches
from triton_fleet.rules.policies.subject import Subject
from triton_fleet.spec.policy import Statement

MAX_SHARES = 3
"""So many endpoints of a team are named with their costs."""


def policy_findings(project: Project, specs: Sequence[LoadedSpec], today: date) -> list[Finding]:
    """Findings of what policies refuse of endpoints, or will soon, and of mistakes in policies and prices.

    A spec's `allow` silences none of it. Endpoints that are not checked are read only where a policy limits
    the cost of a team.

    Args:
        project: The fleet and the environment.
        specs: The specs to check, as they hold in the environment.
        today: The day on which exceptions and releases are compared.
    """
    files, findings = _read_files(project)
    check = PolicyCheck(project, [Subject(loaded_spec, project) for loaded_spec in specs], today)
    for file in files:
        findings += check.findings(file)
    return [*findings, *check.unread_findings()]


def file_findings(project: Project) -> list[Finding]:
    """Findings of mistakes in policies and prices."""
    return _read_files(project)[1]


def _read_files(project: Project) -> tuple[list[PolicyFile], list[Finding]]:
    files, findings = read_policies(project)
    return files, [*findings, *project.fleet.prices.findings]


def refusals(
    project: Project, subjects: Sequence[Subject], today: date, *, of_environment: bool = False
) -> Mapping[str, list[Finding]]:
    """Errors of policies by endpoint; with `of_environment` also those of their environment."""
    check, findings = (
        PolicyCheck(project, subjects, today, of_environment),
        defaultdict[str, list[Finding]](list),
    )
    for file in read_policies(project)[0]:
        exceptions = Exceptions(file, project.environment.environment, today)
        for name, breach in check.breaches(file, exceptions):
            if breach.severity is Severity.ERROR:
                findings[name].append(breach)
    return findings


@dataclass
class PolicyCheck:
    """Endpoints of one environment, and with `of_environment` the environment, checked policy by policy."""

    project: Project
    subjects: Sequence[Subject]
    today: date
    of_environment: bool = True
    _unread: list[str] = field(default_factory=list)

    def findings(self, file: PolicyFile) -> Iterator[Finding]:
        """Findings of one policy, and of its exceptions."""
        exceptions = Exceptions(file, self.project.environment.environment, self.today)
        yield from with_endpoints(self.breaches(file, exceptions))
        project, names = self.project, {subject.name for subject in self.subjects}
        fleet = {*names, *project.spec_files, *project.absent, *project.unpromoted_names}
        yield from exceptions.findings(self.subjects, fleet, whole=set(project.spec_files) <= names)

    def breaches(self, file: PolicyFile, exceptions: Exceptions) -> Iterator[tuple[str, Finding]]:
        """Findings of one policy, each with its endpoint."""
        environment = self.project.environment.environment
        for index, statement in enumerate(file.policy.statements):
            if is_of_environment(statement.when, environment):
                about = [subject for subject in self.subjects if is_about(statement.when, subject)]
                yield from self._of_endpoints(file, index, statement, about, exceptions)
                if statement.monthly_cost and statement.monthly_cost.owner is not None and about:
                    yield from self._of_teams(file, index, statement, exceptions)

    def _of_endpoints(
        self,
        file: PolicyFile,
        index: int,
        statement: Statement,
        about: Collection[Subject],
        exceptions: Exceptions,
    ) -> Iterator[tuple[str, Finding]]:
        for subject in about:
            for breach in self._breaches(statement, subject):
                if breach.of_environment and not self.of_environment:
                    continue
                if exceptions.excuses(statement.name, breach.key, subject.name):
                    continue
                source = (
                    self.project.environment_source if breach.of_environment else subject.loaded_spec.source
                )
                more = exceptions.expiry(statement.name, breach.key, subject.name)
                yield subject.name, breach_finding(breach, file, index, source.mark(breach.path), more)

    def _breaches(self, statement: Statement, subject: Subject) -> Iterator[Breach]:
        yield from limit_breaches(statement, subject, self.today)
        yield from requirement_breaches(statement, subject)
        yield from security_breaches(statement, subject)

    def _of_teams(
        self, file: PolicyFile, index: int, statement: Statement, exceptions: Exceptions
    ) -> Iterator[tuple[str, Finding]]:
        """One finding for each team over its budget, at the most expensive of its checked endpoints.

        An endpoint with an exception is left out of the sum.
        """
        assert statement.monthly_cost and statement.monthly_cost.owner is not None  # noqa: S101 - asked before
        limit, key = exact(statement.monthly_cost.owner), "monthly_cost.owner"
        excuses = partial(exceptions.excuses, statement.name, key)
        teams = defaultdict[str, list[Subject]](list)
        for subject in (*self.subjects, *self.other_subjects):
            if subject.team and is_about(statement.when, subject):
                teams[subject.team].append(subject)
        names = {subject.name for subject in self.subjects}
        for team, members in teams.items():
            if not any(member.name in names for member in members):
                continue
            payers = members
            if monthly_cost(members) > limit:
                payers = [member for member in members if not excuses(member.name)]
            payers_in_check = [member_of_team for member_of_team in payers if member_of_team.name in names]
            rule = f"allows {money(limit, self._currency)} a month"
            if payers_in_check and monthly_cost(payers) > limit:
                notices = (
                    exceptions.expiry(statement.name, key, member_of_team.name) for member_of_team in payers
                )
                breach, at = self._over_budget(team, payers, names, limit)
                mark, more = at.loaded_spec.source.mark(breach.path), next(filter(None, notices), "")
                yield at.name, breach_finding(breach, file, index, mark, more)
            elif payers_in_check:
                without_price = [
                    member_of_team
                    for member_of_team in payers
                    if member_of_team.spending.unpriced_machines and not excuses(member_of_team.name)
                ]
                if without_price:
                    breach, at = _unknown_budget(team, payers, without_price, payers_in_check, rule)
                    yield (
                        at.name,
                        breach_finding(breach, file, index, at.loaded_spec.source.mark(breach.path)),
                    )
            for subject in payers_in_check:
                for breach in computed_costs(subject, key, "FL955", rule):
                    if not excuses(subject.name):
                        mark = subject.loaded_spec.source.mark(breach.path)
                        yield subject.name, breach_finding(breach, file, index, mark)

    def _over_budget(
        self, team: str, members: Sequence[Subject], names: Collection[str], limit: Decimal
    ) -> tuple[Breach, Subject]:
        by_cost = sorted(members, key=lambda member: (-member.spending.cost.per_hour, member.name))
        at = next(member for member in by_cost if member.name in names)
        shares = [f"{member.name} {amount([member])}" for member in by_cost[:MAX_SHARES]]
        more = [f"{len(by_cost) - MAX_SHARES} more"] if len(by_cost) > MAX_SHARES else []
        environment = self.project.environment.environment
        breach = Breach(
            key="monthly_cost.owner",
            code="FL955",
            path=at.spending.path,
            observation=f"at their maximum, the endpoints of {team} in {environment!r} cost"
            f" {cost_text(members)} ({', '.join([*shares, *more])})",
            rule=f"allows {money(limit, self._currency)}",
            remedy="lower the maximum instances of one of them",
        )
        return breach, at

    @property
    def _currency(self) -> str:
        return self.project.fleet.prices.currency

    @cached_property
    def other_subjects(self) -> tuple[Subject, ...]:
        """The endpoints of the environment that are not checked, without those that cannot be read."""
        names, unchecked_subjects = {subject.name for subject in self.subjects}, list[Subject]()
        for name in self.project.spec_files:
            if name not in names:
                if (spec := self.project.specs.readable(name)) is not None:
                    unchecked_subjects.append(Subject(spec, self.project))
                else:
                    self._unread.append(name)
        return tuple(unchecked_subjects)

    def unread_findings(self) -> Iterator[Finding]:
        """A warning for each endpoint whose cost is missing in the sum of its team, as its spec is wrong."""
        for name in self._unread:
            if name not in self.project.endpoints:  # what is wrong with those is reported
                yield Finding(
                    code="FL994",
                    severity=Severity.WARNING,
                    message="the spec cannot be read, so policies cannot add its cost to that of its team",
                    hint=f"run `fleet check --env {self.project.environment.environment} {name}`",
                    file=self.project.spec_files[name],
                    line=1,
                )


def _unknown_budget(
    team: str,
    members: Sequence[Subject],
    without_price: Sequence[Subject],
    subjects: Sequence[Subject],
    rule: str,
) -> tuple[Breach, Subject]:
    """A warning where the cost of a team cannot be compared, and the checked endpoint at which it stands."""
    names = {subject.name for subject in subjects}
    first, *rest = sorted(without_price, key=lambda subject: subject.name not in names)
    also = f", as are the costs of {', '.join(subject.name for subject in rest[:MAX_SHARES])}" if rest else ""
    effect = f"the cost of {first.name} is unknown{also}; {team} costs {cost_text(members)}"
    breach = unpriced_cost(first, first.spending.unpriced_machines[0], "monthly_cost.owner", effect, rule)
    return (
        (breach, first)
        if first.name in names
        else (replace(breach, path=subjects[0].max_count.path), subjects[0])
    )
