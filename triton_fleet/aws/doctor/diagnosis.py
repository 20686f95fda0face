"""Likely causes, best first: the evidence is compared with known symptoms and the findings of the rules."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from triton_fleet.aws.calls import Calls
from triton_fleet.aws.doctor.lines import one_line
from triton_fleet.aws.doctor.observation import Observation, Passage
from triton_fleet.catalog.symptoms import (
    AFTERMATH_RANK,
    FAILURE_RANK,
    EvidenceOrigin,
    Symptom,
    fill_template,
    known_symptom,
    symptoms,
)
from triton_fleet.check.run import all_findings
from triton_fleet.context.metrics import container_log_group
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.rules.codes import other_codes
from triton_fleet.rules.registry import rules
from triton_fleet.spec.source import finding_at

MAX_CAUSES = 5
"""A sixth guess would not help."""
BEFORE, LONGEST = 60, 300
"""Characters of the evidence: before the match, and in total."""
RULE_HOLDS = "`fleet check` does not find this in the current spec"


@dataclass(frozen=True, kw_only=True)
class Match:
    """A symptom in a passage; `fits` is the finding of `fleet check` with the same cause, if any.

    `text` is the passage; the following line is included only if it is part of the match.
    """

    symptom: Symptom
    passage: Passage
    text: str
    pattern_match: re.Match[str]
    fits: Finding | None

    @property
    def cause(self) -> tuple[str, str]:
        """The key that distinguishes causes: the code, and the affected model."""
        code = self.symptom.codes[0] if self.fits is None else self.fits.code
        return code, "" if code in rules() else self.model

    @property
    def model(self) -> str:
        """The affected model, without its repository; empty if there is none."""
        return (self.pattern_match.groupdict().get("model") or "").rpartition("::")[2]

    @property
    def evidence(self) -> str:
        """The matched text, with a little of the text before it."""
        start = max(self.pattern_match.start() - BEFORE, 0)
        end = start + LONGEST
        return f"{'…' if start else ''}{self.text[start:end]}{'…' if end < len(self.text) else ''}".strip()


def causes(
    passages: Iterable[Passage], spec_findings: Sequence[Finding] | None, loaded_spec: LoadedSpec | None
) -> list[Finding]:
    """The likely causes as findings, best first; empty if the evidence matches no symptom.

    Args:
        passages: The evidence.
        spec_findings: The findings of `fleet check` for the current spec; None if there is no spec to check.
        loaded_spec: The spec, for the place of the affected key.
    """
    matches = list(_matches(passages, spec_findings or ()))
    if any(match.symptom.rank < AFTERMATH_RANK for match in matches):
        matches = [match for match in matches if match.symptom.rank < AFTERMATH_RANK or match.fits]
    matches.sort(key=lambda match: (not _is_error(match.fits), match.symptom.rank))
    best: dict[tuple[str, str], Match] = {}
    for match in matches:
        is_told = match.symptom.rank >= FAILURE_RANK and any(
            best_match.model == match.model for best_match in best.values()
        )
        if not (is_told and match.model):
            best.setdefault(match.cause, match)
    return [
        _finding(match, loaded_spec, is_checked=spec_findings is not None)
        for match in list(best.values())[:MAX_CAUSES]
    ]


def reason_of_failures(lines: Iterable[str]) -> str:
    """The reason that most lines of a log about failed calls give; empty if no line is about one."""
    reasons = Counter[str]()
    for line in lines:
        known_match = known_symptom(one_line(line), EvidenceOrigin.CALL)
        if known_match is not None:
            reasons[fill_template(known_match[0].cause, known_match[1])] += 1
    return next((reason for reason, _ in reasons.most_common(1)), "")


def _matches(passages: Iterable[Passage], spec_findings: Sequence[Finding]) -> Iterator[Match]:
    """For each passage, the symptoms with the best rank."""
    for passage in passages:
        text = one_line(passage.text)
        whole, matches = f"{text} {one_line(passage.next_text)}", list[Match]()
        for symptom in symptoms():
            match = symptom.pattern.search(whole) if passage.origin in symptom.origins else None
            # A match in the following line alone is found when that line is the passage.
            if match is not None and match.start() < len(text):
                matched_text, fits = (
                    (text if match.end() <= len(text) else whole),
                    _match_cause(symptom, spec_findings),
                )
                matches.append(
                    Match(symptom=symptom, passage=passage, text=matched_text, pattern_match=match, fits=fits)
                )
        lowest = min((candidate.symptom.rank for candidate in matches), default=0)
        yield from (candidate for candidate in matches if candidate.symptom.rank == lowest)


def _match_cause(symptom: Symptom, spec_findings: Sequence[Finding]) -> Finding | None:
    candidates = [
        candidate for code in symptom.codes for candidate in spec_findings if candidate.code == code
    ]
    return next(
        (candidate for candidate in candidates if _is_error(candidate)), candidates[0] if candidates else None
    )


def _is_error(finding: Finding | None) -> bool:
    return finding is not None and finding.severity is Severity.ERROR


def _finding(match: Match, loaded_spec: LoadedSpec | None, *, is_checked: bool) -> Finding:
    symptom, evidence = match.symptom, f"{match.passage.of}: {match.evidence}"
    if match.fits is not None:
        return replace(match.fits, message=f"{match.fits.message}\n{evidence}", severity=Severity.ERROR)
    code = symptom.codes[0]
    lines, rule = [_sentence(match)], rules().get(code)
    if rule is not None:
        lines += [" ".join(rule.reason.split())] if rule.reason else []
    hint = fill_template(symptom.remedy, match.pattern_match)
    if rule is not None and is_checked:
        hint = f"{hint}; {RULE_HOLDS}"
    result = Finding(code=code, message="\n".join([*lines, evidence]), hint=hint)
    if loaded_spec is None or not symptom.key or (symptom.key[0],) not in loaded_spec.source.marks:
        return result
    return finding_at(loaded_spec.source.mark(symptom.key), code, result.message, hint)


def _sentence(match: Match) -> str:
    """The cause in the words of its code; for a rule, that the requirement in its summary is violated."""
    code = match.symptom.codes[0]
    if code in rules():
        return f"probably violated: {' '.join(rules()[code].summary.split())}"
    return fill_template(match.symptom.cause or other_codes()[code], match.pattern_match)


MAX_LINES = 5
"""How many further errors of the rules are reported; `fleet check` reports all."""

UNREADABLE_BODY = (
    "read the log; a body that Triton cannot read fails without a line there: look at what clients send"
)


@dataclass(frozen=True)
class SpecCheck:
    """The current spec, None if it cannot be read, and the findings of `fleet check`."""

    loaded_spec: LoadedSpec | None
    findings: Sequence[Finding] | None


def check_spec(project: Project, name: str) -> SpecCheck:
    """The findings of `fleet check` for one endpoint; no weights are read, so it takes about a second."""
    if name not in project.spec_files:
        return SpecCheck(None, None)
    project = replace(project, endpoints=(name,))
    try:
        loaded_spec = project.load(name)
    except FindingsError as error:
        return SpecCheck(None, error.findings)
    return SpecCheck(loaded_spec, all_findings(project, compares_locks=False))


def is_well(observation: Observation) -> bool:
    """Whether the last deploy did not fail, the endpoint and its calls answer, and no log has a symptom."""
    return not (
        observation.has_failed
        or observation.another
        or observation.calls_fail
        or causes(observation.passages, None, None)
    )


def diagnosis(observation: Observation, spec: SpecCheck) -> list[Finding]:
    """The likely causes, best first, or that there is no known one; a stopped rollback; the rules' errors."""
    findings = causes(observation.passages, spec.findings, spec.loaded_spec)
    if observation.another is not None:
        findings.append(observation.another)
    elif not findings and (observation.has_failed or not observation.calls_fail):
        findings = [observation.absent] if observation.absent is not None else []
        findings += [] if observation.under_way else [_unknown(observation)]
    if observation.calls is not None and observation.calls.is_failing:
        findings.append(_failing_calls(observation, observation.calls, spec.loaded_spec))
    if observation.stack is not None and observation.stack.rollback is not None:
        findings.append(observation.stack.rollback.finding())
    if observation.stack is not None and observation.stack.stuck is not None:
        findings.append(observation.stack.stuck)
    reported_keys = {(cause.code, cause.place) for cause in findings}
    rule_findings = [
        finding
        for finding in spec.findings or ()
        if finding.severity is Severity.ERROR and (finding.code, finding.place) not in reported_keys
    ]
    return [*findings, *rule_findings[:MAX_LINES]]


def _failing_calls(observation: Observation, calls: Calls, loaded_spec: LoadedSpec | None) -> Finding:
    message, path = f"invocations of {observation.name}: {calls}", ("models",)
    hint = "correct the model, and deploy it" if calls.reason else UNREADABLE_BODY
    invoke = f"`fleet invoke {observation.name} --env {observation.environment}`"
    hint = f"{hint}; {invoke} shows the answer to one call"
    if loaded_spec is None or path not in loaded_spec.source.marks:
        return Finding(code="FL677", message=message, hint=hint)
    return finding_at(loaded_spec.source.mark(path), "FL677", message, hint)


def _unknown(observation: Observation) -> Finding:
    name, stack = observation.name, observation.stack
    events = f", the events of the stack {stack.name}" if stack is not None else ""
    hint = (
        f"look at the log group {container_log_group(name)}{events}, and `aws sagemaker describe-endpoint"
        f" --endpoint-name {name}`; `fleet docs doctor` explains how to add a symptom"
    )
    message = f"no known cause matches the events, status and logs of {observation.name}"
    return Finding(code="FL640", message=message, hint=hint)
