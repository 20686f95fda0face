"""The exceptions of a policy: what they excuse on a day, and which of them end, have ended or are unused."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cached_property
from itertools import chain
from operator import itemgetter

from triton_fleet.findings import Finding, Severity
from triton_fleet.rules.policies.file import PolicyFile, is_about, is_of_environment, listed, matches
from triton_fleet.rules.policies.limits import days_left
from triton_fleet.rules.policies.subject import Subject
from triton_fleet.spec.policy import PolicyException, Statement
from triton_fleet.spec.source import finding_at

MAX_NAMES = 3
"""So many endpoints are named in a message about several."""
EXPIRING_DAYS = 7
"""So many days before its last day an exception is a warning."""


@dataclass
class Exceptions:
    """Those of one policy that count in an environment; what they excuse is noted while it is asked for."""

    file: PolicyFile
    environment: str
    today: date
    _excused: dict[int, set[str]] = field(default_factory=dict)

    @cached_property
    def _statements(self) -> Mapping[str, Statement]:
        """By name, those about this environment."""
        statements = self.file.policy.statements
        return {
            statement.name: statement
            for statement in statements
            if is_of_environment(statement.when, self.environment)
        }

    @cached_property
    def _by_statement(self) -> Mapping[str, Sequence[tuple[int, PolicyException]]]:
        """The exceptions that count here, each with its place in the file."""
        found = defaultdict[str, list[tuple[int, PolicyException]]](list)
        for index, each in enumerate(self.file.policy.exceptions):
            named = each.environment is None or matches(each.environment, self.environment)
            if named and each.statement in self._statements:
                found[each.statement].append((index, each))
        return found

    def excuses(self, statement: str, key: str, endpoint: str) -> bool:
        """Whether an endpoint may break a key of a statement today; the exception is noted as used."""
        for index, each in self._of(statement, key, endpoint):
            if self.today <= each.until:
                self._excused.setdefault(index, set()).add(endpoint)
                return True
        return False

    def ended(self, statement: str, key: str, endpoint: str) -> str:
        """What a message has of an exception that does not count any more; empty where there was none."""
        for index, each in self._of(statement, key, endpoint):
            if each.until < self.today:
                where = self.file.line(("exceptions", index))
                return f"The exception in {where} ended on {each.until.isoformat()}"
        return ""

    def findings(
        self, subjects: Collection[Subject], fleet: Collection[str], *, whole: bool
    ) -> Iterator[Finding]:
        """What is to be done about them.

        Args:
            subjects: The endpoints that were checked.
            fleet: The names of all endpoints, those of other environments too.
            whole: All endpoints of the environment were checked, so that what excused none of them is unused.
        """
        for index, each in sorted(chain.from_iterable(self._by_statement.values()), key=itemgetter(0)):
            until, path = each.until.isoformat(), ("exceptions", index)
            names = sorted(self._excused.get(index, ()))
            if each.until < self.today:
                message = (
                    f"the exception for {listed(each.endpoints)} from `{each.statement}` ended on {until}"
                )
                yield self._warning("FL991", (*path, "until"), message, "remove it, or set another day")
            elif names and (each.until - self.today).days <= EXPIRING_DAYS:
                left, others = days_left(each.until, self.today), len(names) - MAX_NAMES
                more = [f"{others} more"] if others > 0 else []
                who = listed([*names[:MAX_NAMES], *more])
                message = f"the exception for {who} from `{each.statement}` ends on {until}: {left}"
                hint = f"change {who}, or set another day; the reason was: {each.reason}"
                yield self._warning("FL992", (*path, "until"), message, hint)
            elif whole and not names and (why := self._unused(each, subjects, fleet)):
                hint = "correct its `endpoints` or its `environment`, or remove it"
                yield self._warning("FL993", path, f"the exception from `{each.statement}` {why}", hint)

    def _unused(
        self, exception: PolicyException, subjects: Collection[Subject], fleet: Collection[str]
    ) -> str:
        """Why it excuses nothing; empty if all its endpoints are in other environments."""
        if not any(matches(exception.endpoints, each) for each in fleet):
            return f"names {listed(exception.endpoints, 'or')}, which matches no endpoint of this fleet"
        when = self._statements[exception.statement].when
        named = [subject for subject in subjects if matches(exception.endpoints, subject.name)]
        if any(is_about(when, each) for each in named):
            return f"for {listed(exception.endpoints)} excuses nothing in {self.environment!r}"
        return f"is for {listed(exception.endpoints)}, to which the statement does not apply" if named else ""

    def _of(self, statement: str, key: str, endpoint: str) -> Iterator[tuple[int, PolicyException]]:
        for index, each in self._by_statement.get(statement, ()):
            if matches(each.endpoints, endpoint) and each.covers(key):
                yield index, each

    def _warning(self, code: str, path: tuple[str | int, ...], message: str, hint: str) -> Finding:
        found = finding_at(self.file.source.mark(path), code, message, hint)
        return replace(found, severity=Severity.WARNING)
