"""The one form of every mistake that is reported: code, severity, place, message, hint."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TypeAlias, TypeVar

I = TypeVar("I")  # noqa: E741 - input
T = TypeVar("T")


class Severity(StrEnum):
    """How much a finding weighs: an error stops, a warning is only shown."""

    ERROR = "error"
    WARNING = "warning"


NAMES = "\0"
"""Where the text of a `HintForSeveral` has the names of endpoints, each after a space."""
MAX_NAMES = 10
"""How many endpoints the command in a hint names; more are all endpoints."""


@dataclass(frozen=True)
class HintForSeveral:
    """A hint whose commands end with the endpoints that they act on.

    `substitute` is what a command has instead of names to act on all endpoints.
    """

    text: str
    names: tuple[str, ...]
    substitute: str = ""

    def __str__(self) -> str:
        """The hint for its endpoints."""
        names = "".join(f" {name}" for name in self.names)
        return self.text.replace(NAMES, names if len(self.names) <= MAX_NAMES else self.substitute)


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One thing that is wrong, where it is, and what to write instead.

    `file` is as the user would name it; `line` and `column` count from 1 and are None for a whole file.
    Of a `confidential` one the line itself must not be shown. `endpoints` are those that a cause in a shared
    file hits, such as a profile; empty for a file of one endpoint. Where `hint` names them,
    `hint_for_several` is what it becomes for those of more findings.
    """

    code: str
    message: str
    file: Path | None = None
    line: int | None = None
    column: int | None = None
    hint: str = ""
    severity: Severity = Severity.ERROR
    confidential: bool = False
    endpoints: tuple[str, ...] = ()
    hint_for_several: HintForSeveral | None = None

    @property
    def place(self) -> str:
        """`file:line:column` as editors and terminals link it, with the parts that are known."""
        parts = [str(self.file) if self.file else "", *(str(n) for n in (self.line, self.column) if n)]
        return ":".join(part for part in parts if part)

    @property
    def sort_key(self) -> tuple[str, int, int, str]:
        """By file, then by place in it, then by code."""
        return (str(self.file or ""), self.line or 0, self.column or 0, self.code)

    def __str__(self) -> str:
        """One line, and a second one for the hint."""
        place = f"{self.place}: " if self.place else ""
        hint = f"\n  hint: {self.hint}" if self.hint else ""
        return f"{place}{self.severity} {self.code}: {self.message}{hint}"


class FindingsError(Exception):
    """The input is wrong, for the reasons in the findings; commands print them and exit with 1."""

    def __init__(self, findings: list[Finding]) -> None:
        self.findings = sorted(findings, key=lambda finding: finding.sort_key)
        super().__init__("\n".join(str(finding) for finding in self.findings))

    def __reduce__(self) -> tuple[type[FindingsError], tuple[list[Finding]]]:
        """As it goes from one process to another."""
        return type(self), (self.findings,)


class CannotRunError(Exception):
    """The command cannot do its work here (a tool or a platform is missing); commands exit with 2."""

    def __init__(self, problem: str, remedy: str = "") -> None:
        self.problem, self.remedy = problem, remedy
        super().__init__(f"{problem}\n  remedy: {remedy}" if remedy else problem)

    def __reduce__(self) -> tuple[type[CannotRunError], tuple[str, str]]:
        """As it goes from one process to another."""
        return type(self), (self.problem, self.remedy)


Failure: TypeAlias = FindingsError | CannotRunError


class SeveralFailuresError(Exception):
    """Independent pieces of work failed; commands print all of them.

    They exit with 1 if one is a `FindingsError`, as something must be corrected, else with 2.
    """

    def __init__(self, failures: Sequence[Failure]) -> None:
        findings = [
            finding for error in failures if isinstance(error, FindingsError) for finding in error.findings
        ]
        self.findings = FindingsError(findings).findings
        self.other_failures = [failure for failure in failures if isinstance(failure, CannotRunError)]
        super().__init__("\n".join(map(str, failures)))


def one_failure(failures: Sequence[Failure]) -> Failure | SeveralFailuresError:
    """One or more failures as one exception."""
    return failures[0] if len(failures) == 1 else SeveralFailuresError(failures)


def with_endpoints(pairs: Iterable[tuple[str, Finding]]) -> list[Finding]:
    """Findings of endpoints, each once; one of several endpoints has their names, in its hint too."""
    hits = dict[Finding, dict[str, Finding]]()
    for endpoint, finding in pairs:
        hits.setdefault(_for_endpoints(finding, ()), {}).setdefault(endpoint, finding)
    return [
        replace(_for_endpoints(common, tuple(by_name)), endpoints=tuple(by_name))
        if len(by_name) > 1
        else next(iter(by_name.values()))
        for common, by_name in hits.items()
    ]


def _for_endpoints(finding: Finding, names: tuple[str, ...]) -> Finding:
    """The finding with the hint for these endpoints."""
    if finding.hint_for_several is None:
        return finding
    hint = replace(finding.hint_for_several, names=names)
    return replace(finding, hint=str(hint), hint_for_several=hint)


@contextmanager
def collect_findings(findings: list[Finding]) -> Iterator[None]:
    """Add the findings of a FindingsError that ends the block to a list."""
    try:
        yield
    except FindingsError as error:
        findings += error.findings


def all_of(inputs: Iterable[I], load: Callable[[I], T], former: Sequence[Finding] = ()) -> list[T]:
    """Load each input; the findings of all of them are raised together, each once."""
    findings, results = list(former), []
    for item in inputs:
        try:
            results.append(load(item))
        except FindingsError as error:
            findings += error.findings
    if findings:
        raise FindingsError(list(dict.fromkeys(findings)))
    return results
