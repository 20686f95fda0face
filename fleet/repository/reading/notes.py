"""What is found wrong while a repository is read: a few of each kind, however many there are."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from fleet.findings import Finding, Severity

SHOWN = 10
"""Findings of one code; an unpacked Python environment has thousands of links."""


@dataclass
class Notes:
    """The findings of one folder or archive."""

    place: Path
    _found: dict[str, list[Finding]] = field(default_factory=dict)
    _more: dict[str, int] = field(default_factory=dict)

    def add(
        self, code: str, message: str, path: str = "", hint: str = "", severity: Severity = Severity.ERROR
    ) -> None:
        """What is wrong with an entry, or with all of it."""
        found = self._found.setdefault(code, [])
        if len(found) == SHOWN:
            self._more[code] = self._more.get(code, 0) + 1
            return
        file = self.place / path if path else self.place
        found.append(Finding(code=code, message=message, file=file, hint=hint, severity=severity))

    def findings(self) -> tuple[Finding, ...]:
        """All of them, sorted; of a kind with too many, the first and how many more there are."""
        found = [each for kind in self._found.values() for each in kind]
        for code, more in self._more.items():
            message = f"{more} more of these were found"
            severity = self._found[code][0].severity
            found.append(Finding(code=code, message=message, file=self.place, severity=severity))
        return tuple(sorted(found, key=lambda finding: finding.sort_key))
