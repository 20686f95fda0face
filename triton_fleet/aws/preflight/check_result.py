"""The result of one check of an account."""

from __future__ import annotations

from dataclasses import dataclass

from triton_fleet.findings import CannotRunError, Finding, Severity


@dataclass(frozen=True, kw_only=True)
class CheckResult:
    """What was checked, what was read, and the findings.

    `problem` is why AWS could not be called, if so; a missing permission is a finding.
    """

    what: str
    text: str
    findings: tuple[Finding, ...] = ()
    problem: CannotRunError | None = None

    @property
    def severity(self) -> Severity | None:
        """The worst severity of its findings; also an error if AWS could not be called."""
        if self.problem is not None:
            return Severity.ERROR
        return min((finding.severity for finding in self.findings), key=list(Severity).index, default=None)
