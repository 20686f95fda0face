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
from triton_fleet.rules.policies.file import PolicyFile, is_about, is_of_environment, join_words, matches
from triton_fleet.rules.policies.limits import remaining_days
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
    _uses: dict[int, set[str]] = field(default_factory=dict)

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
        exceptions = defaultdict[str, list[tuple[int, PolicyException]]](list)
        for index, exception in enumerate(self.file.policy.exceptions):
            is_here = exception.environment is None or matches(exception.environment, self.environment)
            if is_here and exception.statement in self._statements:
                exceptions[exception.statement].append((index, exception))
        return exceptions

    def excuses(self, statement: str, key: str, endpoint: str) -> bool:
        """Whether an endpoint may break a key of a statement today; the exception is noted as used."""
        for index, exception in self._of(statement, key, endpoint):
            if self.today <= exception.until:
                self._uses.setdefault(index, set()).add(endpoint)
                return True
        return False

    def expiry(self, statement: str, key: str, endpoint: str) -> str:
        """The part of a message about an exception that has ended; empty where there was none."""
        for index, exception in self._of(statement, key, endpoint):
            if exception.until < self.today:
                line = self.file.line(("exceptions", index))
                return f"The exception in {line} ended on {exception.until.isoformat()}"
        return ""

    def findings(
        self, subjects: Collection[Subject], fleet: Collection[str], *, whole: bool
    ) -> Iterator[Finding]:
        """Findings about exceptions: those that end soon, and those without use.

        Args:
            subjects: The endpoints that were checked.
            fleet: The names of all endpoints, those of other environments too.
            whole: All endpoints of the environment were checked, so that what excused none of them is unused.
        """
        for index, exception in sorted(chain.from_iterable(self._by_statement.values()), key=itemgetter(0)):
            until, path = exception.until.isoformat(), ("exceptions", index)
            names = sorted(self._uses.get(index, ()))
            if exception.until < self.today:
                endpoints = join_words(exception.endpoints)
                message = f"the exception for {endpoints} from `{exception.statement}` ended on {until}"
                yield self._warning("FL991", (*path, "until"), message, "remove it, or set another day")
            elif names and (exception.until - self.today).days <= EXPIRING_DAYS:
                days_text, further = remaining_days(exception.until, self.today), len(names) - MAX_NAMES
                more = [f"{further} more"] if further > 0 else []
                names_text = join_words([*names[:MAX_NAMES], *more])
                ends = f"from `{exception.statement}` ends on {until}: {days_text}"
                message = f"the exception for {names_text} {ends}"
                hint = f"change {names_text}, or set another day; the reason was: {exception.reason}"
                yield self._warning("FL992", (*path, "until"), message, hint)
            elif whole and not names and (reason := self._disuse(exception, subjects, fleet)):
                hint = "correct its `endpoints` or its `environment`, or remove it"
                yield self._warning(
                    "FL993", path, f"the exception from `{exception.statement}` {reason}", hint
                )

    def _disuse(
        self, exception: PolicyException, subjects: Collection[Subject], fleet: Collection[str]
    ) -> str:
        """Why it excuses nothing; empty if all its endpoints are in other environments."""
        if not any(matches(exception.endpoints, name) for name in fleet):
            return f"names {join_words(exception.endpoints, 'or')}, which matches no endpoint of this fleet"
        condition = self._statements[exception.statement].when
        subjects_of_exception = [
            subject for subject in subjects if matches(exception.endpoints, subject.name)
        ]
        if any(is_about(condition, name) for name in subjects_of_exception):
            return f"for {join_words(exception.endpoints)} excuses nothing in {self.environment!r}"
        return (
            f"is for {join_words(exception.endpoints)}, to which the statement does not apply"
            if subjects_of_exception
            else ""
        )

    def _of(self, statement: str, key: str, endpoint: str) -> Iterator[tuple[int, PolicyException]]:
        for index, exception in self._by_statement.get(statement, ()):
            if matches(exception.endpoints, endpoint) and exception.covers(key):
                yield index, exception

    def _warning(self, code: str, path: tuple[str | int, ...], message: str, hint: str) -> Finding:
        finding = finding_at(self.file.source.mark(path), code, message, hint)
        return replace(finding, severity=Severity.WARNING)
