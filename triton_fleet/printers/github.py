"""Findings as annotations of a pull request: GitHub's workflow commands, and lines of the step's log.

Source: https://docs.github.com/en/actions/reference/workflows-and-actions/workflow-commands; what is escaped,
and how, is the toolkit's packages/core/src/command.ts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from triton_fleet.findings import Finding, Severity
from triton_fleet.printers.causes import Cause, Extent, causes
from triton_fleet.printers.excerpt import place_in
from triton_fleet.rules.names import display_name

ANNOTATIONS = 10
"""How many of one severity GitHub shows for a step.

Source: https://github.com/orgs/community/discussions/26680.
"""
MAX_MESSAGE = 4096
"""The length to which the runner cuts a message, in the annotation and in the log alike.

Source: `_maxIssueMessageLength` in ExecutionContext.cs of https://github.com/actions/runner.
"""
IN_LOG = ", in the log of this step"
CUT = "…" + IN_LOG
MAX_END_LENGTH = len(f" and 100000 more{IN_LOG}")


def as_github(findings: Sequence[Finding], top: Path) -> str:
    """One command a line, such as `::error file=…,line=6,col=1,title=unknown-key (FL110)::…`.

    Where there are more causes of a severity than GitHub shows, the last annotation counts those that are
    left out. They are in the log, as lines in a group; so is everything of a message that is too long.

    Args:
        findings: What was found.
        top: The top of the repository, to which GitHub takes paths relative.
    """
    lines, log_causes = list[str](), list[Cause]()
    for severity in Severity:
        severity_causes = [cause for cause in causes(findings) if cause.first.severity is severity]
        fit = severity_causes if len(severity_causes) <= ANNOTATIONS else severity_causes[: ANNOTATIONS - 1]
        for cause in fit:
            text, is_whole = _message(cause, top)
            lines.append(_command(cause.first, text, top))
            log_causes += [] if is_whole else [cause]
        if rest := severity_causes[len(fit) :]:
            log_causes += rest
            lines.append(f"::{severity} title=more findings::{_data(_left_out(rest, severity))}")
    if log_causes:
        lines.append("::group::findings that GitHub does not show in full as annotations")
        lines += [_log_line(finding, cause.hint, top) for cause in log_causes for finding in cause.findings]
        lines.append("::endgroup::")
    return "\n".join(lines)


def _left_out(causes: Sequence[Cause], severity: Severity) -> str:
    count = sum(len(cause.findings) for cause in causes)
    return f"{count} more {severity}s are in the log of this step: GitHub shows {ANNOTATIONS} per step"


def _message(cause: Cause, top: Path) -> tuple[str, bool]:
    """The text of an annotation, and whether it has everything."""
    text = cause.first.message + (f"\nhint: {cause.hint}" if cause.hint else "")
    extents = list(cause.extents(lambda finding: _relative(finding, top).place))
    whole = "\n".join([text, *(extent.first(len(extent.names)) for extent in extents)])
    if _length(whole) <= MAX_MESSAGE:
        return whole, True
    minimums = [_length(f"\n{extent.title}{IN_LOG}") for extent in extents]
    message = _cut(text, MAX_MESSAGE - sum(minimums))
    for number, extent in enumerate(extents):
        spare = MAX_MESSAGE - _length(message) - sum(minimums[number:])
        message += f"\n{_names_text(extent, minimums[number] + spare // (len(extents) - number))}"
    return message, False


def _cut(text: str, room: int) -> str:
    """The text, or as much of it as there is room for, and where the rest is."""
    if _length(text) <= room:
        return text
    part = text[: room - len(CUT)]
    while (over := _length(part) + len(CUT) - room) > 0:  # a sign takes one unit or two
        part = part[: -((over + 1) // 2)]
    return part + CUT


def _names_text(extent: Extent, room: int) -> str:
    """As many of the names as there is room for, and where the others are."""
    count, length = 0, _length(f"\n{extent.title}: ") + MAX_END_LENGTH
    for name in extent.names:
        length += _length(f"{name}, ")
        if length > room:
            return f"{extent.first(count) if count else extent.title}{IN_LOG}"
        count += 1
    return extent.first(count)


def _length(text: str) -> int:
    """As the runner counts: in units of UTF-16."""
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _relative(finding: Finding, top: Path) -> Finding:
    return replace(finding, file=Path(place_in(top, finding.file))) if finding.file else finding


def _log_line(finding: Finding, hint: str, top: Path) -> str:
    """A finding on one line of the log, which is not a command."""
    position = _relative(finding, top).place or "the fleet"
    message = f"{finding.message} (hint: {hint})" if hint else finding.message
    endpoints = f" [{', '.join(finding.endpoints)}]" if finding.endpoints else ""
    text = f"{position}: {finding.severity} {display_name(finding.code)}: {message}{endpoints}"
    return text.replace("\r", " ").replace("\n", " ").replace("::", ": :")


def _command(finding: Finding, text: str, top: Path) -> str:
    properties = {
        "file": place_in(top, finding.file).as_posix() if finding.file else None,
        "line": finding.line,
        "col": finding.column,
        "title": display_name(finding.code),
    }
    fields = ",".join(f"{key}={_property(value)}" for key, value in properties.items() if value is not None)
    return f"::{finding.severity} {fields}::{_data(text)}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str | int) -> str:
    return _data(str(value)).replace(":", "%3A").replace(",", "%2C")
