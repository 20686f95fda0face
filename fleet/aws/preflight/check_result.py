"""What a look at an account comes to."""

from __future__ import annotations

from dataclasses import dataclass

from fleet.findings import CannotRunError, Finding, Severity


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """One thing that was looked at: which, what was seen, and what is wrong or doubtful about it.

    `problem` is why AWS could not be asked, where that is so; a permission that is lacking is a finding.
    """

    what: str
    text: str
    findings: tuple[Finding, ...] = ()
    problem: CannotRunError | None = None

    @property
    def severity(self) -> Severity | None:
        """The worst of its findings; an error as well where AWS could not be asked."""
        if self.problem is not None:
            return Severity.ERROR
        return min((each.severity for each in self.findings), key=list(Severity).index, default=None)
