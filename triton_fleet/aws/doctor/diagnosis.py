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
    AFTERMATH,
    FAILED,
    Symptom,
    Where,
    fill_template,
    known_symptom,
    symptoms,
)
from triton_fleet.check.run import all_findings
from triton_fleet.context.triton_metrics import container_log_group
from triton_fleet.findings import Finding, FindingsError, Severity
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.rules.other_codes import other_codes
from triton_fleet.rules.registry import rules
from triton_fleet.spec.source import finding_at

MAX_CAUSES = 5
"""A sixth guess would not help."""
BEFORE, LONGEST = 60, 300
"""Characters of the evidence: before the match, and in total."""
NOT_NOW = "`fleet check` does not find this in the current spec"


@dataclass(frozen=True, kw_only=True)
class Match:
    """A symptom in a passage; `fits` is the finding of `fleet check` with the same cause, if any.

    `text` is the passage; the following line is included only if it is part of the match.
    """

    symptom: Symptom
    passage: Passage
    text: str
    found: re.Match[str]
    fits: Finding | None

    @property
    def cause(self) -> tuple[str, str]:
        """What distinguishes causes: the code, and the affected model."""
        code = self.symptom.codes[0] if self.fits is None else self.fits.code
        return code, "" if code in rules() else self.model

    @property
    def model(self) -> str:
        """The affected model, without its repository; empty if there is none."""
        return (self.found.groupdict().get("model") or "").rpartition("::")[2]

    @property
    def evidence(self) -> str:
        """The matched text, with a little of the text before it."""
        start = max(self.found.start() - BEFORE, 0)
        end = start + LONGEST
        return f"{'…' if start else ''}{self.text[start:end]}{'…' if end < len(self.text) else ''}".strip()


def causes(
    passages: Iterable[Passage], checked: Sequence[Finding] | None, loaded: LoadedSpec | None
) -> list[Finding]:
    """The likely causes as findings, best first; empty if the evidence matches no symptom.

    Args:
        passages: The evidence.
        checked: The findings of `fleet check` for the current spec; None if there is no spec to check.
        loaded: The spec, for the place of the affected key.
    """
    matches = list(_matches(passages, checked or ()))
    if any(each.symptom.rank < AFTERMATH for each in matches):
        matches = [each for each in matches if each.symptom.rank < AFTERMATH or each.fits]
    matches.sort(key=lambda each: (not _is_error(each.fits), each.symptom.rank))
    best: dict[tuple[str, str], Match] = {}
    for each in matches:
        is_told = each.symptom.rank >= FAILED and any(other.model == each.model for other in best.values())
        if not (is_told and each.model):
            best.setdefault(each.cause, each)
    return [
        _finding(each, loaded, is_checked=checked is not None) for each in list(best.values())[:MAX_CAUSES]
    ]


def reason_of_failures(lines: Iterable[str]) -> str:
    """The reason that most lines of a log about failed calls give; empty if no line is about one."""
    reasons = Counter[str]()
    for line in lines:
        known = known_symptom(one_line(line), Where.CALL)
        if known is not None:
            reasons[fill_template(known[0].cause, known[1])] += 1
    return next((reason for reason, _ in reasons.most_common(1)), "")


def _matches(passages: Iterable[Passage], checked: Sequence[Finding]) -> Iterator[Match]:
    """For each passage, the symptoms with the best rank."""
    for passage in passages:
        text = one_line(passage.text)
        whole, found = f"{text} {one_line(passage.following)}", list[Match]()
        for symptom in symptoms():
            match = symptom.pattern.search(whole) if passage.where in symptom.where else None
            # A match in the following line alone is found when that line is the passage.
            if match is not None and match.start() < len(text):
                used, fits = (text if match.end() <= len(text) else whole), _match_cause(symptom, checked)
                found.append(Match(symptom=symptom, passage=passage, text=used, found=match, fits=fits))
        lowest = min((each.symptom.rank for each in found), default=0)
        yield from (each for each in found if each.symptom.rank == lowest)


def _match_cause(symptom: Symptom, checked: Sequence[Finding]) -> Finding | None:
    fitting = [each for code in symptom.codes for each in checked if each.code == code]
    return next((each for each in fitting if _is_error(each)), fitting[0] if fitting else None)


def _is_error(finding: Finding | None) -> bool:
    return finding is not None and finding.severity is Severity.ERROR


def _finding(match: Match, loaded: LoadedSpec | None, *, is_checked: bool) -> Finding:
    symptom, evidence = match.symptom, f"{match.passage.of}: {match.evidence}"
    if match.fits is not None:
        return replace(match.fits, message=f"{match.fits.message}\n{evidence}", severity=Severity.ERROR)
    code = symptom.codes[0]
    lines, rule = [_sentence(match)], rules().get(code)
    if rule is not None:
        lines += [" ".join(rule.why.split())] if rule.why else []
    hint = fill_template(symptom.remedy, match.found)
    if rule is not None and is_checked:
        hint = f"{hint}; {NOT_NOW}"
    found = Finding(code=code, message="\n".join([*lines, evidence]), hint=hint)
    if loaded is None or not symptom.key or (symptom.key[0],) not in loaded.source.marks:
        return found
    return finding_at(loaded.source.mark(symptom.key), code, found.message, hint)


def _sentence(match: Match) -> str:
    """The cause in the words of its code; for a rule, that the requirement in its summary is violated."""
    code = match.symptom.codes[0]
    if code in rules():
        return f"probably violated: {' '.join(rules()[code].summary.split())}"
    return fill_template(match.symptom.cause or other_codes()[code], match.found)


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
