"""The likely causes, problems that need no cause, and what else the rules find in the spec."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from triton_fleet.aws.calls import Calls
from triton_fleet.aws.doctor.causes import causes
from triton_fleet.aws.doctor.observation import Observation
from triton_fleet.check.run import all_findings
from triton_fleet.context.metrics import container_log_group
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.spec.source import finding_at

MAX_LINES = 5
"""How many further errors of the rules are reported; `fleet check` reports all."""

UNREADABLE_BODY = (
    "read the log; a body that Triton cannot read fails without a line there: look at what clients send"
)


@dataclass(frozen=True)
class SpecCheck:
    """The current spec, None if it cannot be read, and the findings of `fleet check`."""

    loaded: LoadedSpec | None
    findings: Sequence[Finding] | None


def check_spec(project: Project, name: str) -> SpecCheck:
    """The findings of `fleet check` for one endpoint; no weights are read, so it takes about a second."""
    if name not in project.spec_files:
        return SpecCheck(None, None)
    project = replace(project, endpoints=(name,))
    try:
        loaded = project.load(name)
    except FindingsError as error:
        return SpecCheck(None, error.findings)
    return SpecCheck(loaded, all_findings(project, compared=False))


def is_well(seen: Observation) -> bool:
    """Whether the last deploy did not fail, the endpoint and its calls answer, and no log has a symptom."""
    return not (seen.failed or seen.another or seen.calls_fail or causes(seen.passages, None, None))


def diagnosis(seen: Observation, spec: SpecCheck) -> list[Finding]:
    """The likely causes, best first, or that there is no known one; a stopped rollback; the rules' errors."""
    found = causes(seen.passages, spec.findings, spec.loaded)
    if seen.another is not None:
        found.append(seen.another)
    elif not found and (seen.failed or not seen.calls_fail):
        found = [seen.absent] if seen.absent is not None else []
        found += [] if seen.under_way else [_unknown(seen)]
    if seen.calls is not None and seen.calls.are_failing:
        found.append(_failing_calls(seen, seen.calls, spec.loaded))
    if seen.stack is not None and seen.stack.stopped is not None:
        found.append(seen.stack.stopped.finding())
    if seen.stack is not None and seen.stack.stuck is not None:
        found.append(seen.stack.stuck)
    reported = {(each.code, each.place) for each in found}
    others = [
        finding
        for finding in spec.findings or ()
        if finding.severity is Severity.ERROR and (finding.code, finding.place) not in reported
    ]
    return [*found, *others[:MAX_LINES]]


def _failing_calls(seen: Observation, calls: Calls, loaded: LoadedSpec | None) -> Finding:
    message, place = f"invocations of {seen.name}: {calls}", ("models",)
    hint = "correct the model, and deploy it" if calls.reason else UNREADABLE_BODY
    hint = f"{hint}; `fleet invoke {seen.name} --env {seen.environment}` shows the answer to one call"
    if loaded is None or place not in loaded.source.marks:
        return Finding(code="FL677", message=message, hint=hint)
    return finding_at(loaded.source.mark(place), "FL677", message, hint)


def _unknown(seen: Observation) -> Finding:
    stack = f", the events of the stack {seen.stack.name}" if seen.stack is not None else ""
    hint = (
        f"look at the log group {container_log_group(seen.name)}{stack}, and `aws sagemaker describe-endpoint"
        f" --endpoint-name {seen.name}`; docs/doctor.md explains how to add a symptom"
    )
    message = f"no known cause matches the events, status and logs of {seen.name}"
    return Finding(code="FL640", message=message, hint=hint)
