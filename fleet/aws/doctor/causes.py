"""What was seen held against known symptoms and the findings of the rules: the likely causes, best first."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from fleet.aws.doctor.lines import bare
from fleet.aws.doctor.observation import Passage
from fleet.catalog.symptoms import AFTERMATH, FAILED, Symptom, symptoms
from fleet.findings import Finding, Severity
from fleet.rules.other_codes import other_codes
from fleet.rules.registry import rules
from fleet.spec.project import LoadedSpec
from fleet.spec.source import finding_at

MAX_CAUSES = 5
"""So many causes are told: the sixth guess helps nobody."""
BEFORE, LONGEST = 60, 300
"""Characters of the evidence: before what was matched, and in all."""
NOT_NOW = "`fleet check` finds nothing of it in the spec as it is now"


@dataclass(frozen=True, kw_only=True)
class Match:
    """A symptom in a passage; `fits` is what `fleet check` says of the same, if it does.

    `text` is the passage without the following line, where that is not a part of it.
    """

    symptom: Symptom
    passage: Passage
    text: str
    found: re.Match[str]
    fits: Finding | None

    @property
    def cause(self) -> tuple[str, str]:
        """What tells two causes apart: the code, and the model that it is about."""
        code = self.symptom.codes[0] if self.fits is None else self.fits.code
        return code, "" if code in rules() else self.model

    @property
    def model(self) -> str:
        """The model that it is about, without its repository; empty where it is about none."""
        return (self.found.groupdict().get("model") or "").rpartition("::")[2]

    @property
    def evidence(self) -> str:
        """What was matched, with a little of what stands before it."""
        start = max(self.found.start() - BEFORE, 0)
        end = start + LONGEST
        return f"{'…' if start else ''}{self.text[start:end]}{'…' if end < len(self.text) else ''}".strip()


def causes(
    passages: Iterable[Passage], checked: Sequence[Finding] | None, loaded: LoadedSpec | None
) -> list[Finding]:
    """The likely causes as findings, best first; empty where nothing is known of what was seen.

    Args:
        passages: What was seen.
        checked: What `fleet check` says of the spec as it is now; None where there is none to check.
        loaded: The spec, for the place of what a cause is about.
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


def _matches(passages: Iterable[Passage], checked: Sequence[Finding]) -> Iterator[Match]:
    """Of each passage what explains most of it."""
    for passage in passages:
        text = _plain(passage.text)
        whole, found = f"{text} {_plain(passage.following)}", list[Match]()
        for symptom in symptoms():
            match = symptom.pattern.search(whole) if passage.where in symptom.where else None
            # What is in the following line alone is found when it is that line's turn.
            if match is not None and match.start() < len(text):
                said, fits = (text if match.end() <= len(text) else whole), _match_cause(symptom, checked)
                found.append(Match(symptom=symptom, passage=passage, text=said, found=match, fits=fits))
        lowest = min((each.symptom.rank for each in found), default=0)
        yield from (each for each in found if each.symptom.rank == lowest)


def _plain(text: str) -> str:
    """All white space as one blank, also where Triton writes a new line as two characters."""
    return " ".join(bare(text).replace("\\n", " ").split())


def _match_cause(symptom: Symptom, checked: Sequence[Finding]) -> Finding | None:
    fitting = [each for code in symptom.codes for each in checked if each.code == code]
    return next((each for each in fitting if _is_error(each)), fitting[0] if fitting else None)


def _is_error(finding: Finding | None) -> bool:
    return finding is not None and finding.severity is Severity.ERROR


def _finding(match: Match, loaded: LoadedSpec | None, *, is_checked: bool) -> Finding:
    symptom, evidence = match.symptom, f"{match.passage.of} says: {match.evidence}"
    if match.fits is not None:
        return replace(match.fits, message=f"{match.fits.message}\n{evidence}", severity=Severity.ERROR)
    code = symptom.codes[0]
    lines, rule = [_sentence(match)], rules().get(code)
    if rule is not None:
        lines += [" ".join(rule.why.split())] if rule.why else []
    hint = _fill_template(symptom.remedy, match)
    if rule is not None and is_checked:
        hint = f"{hint}; {NOT_NOW}"
    found = Finding(code=code, message="\n".join([*lines, evidence]), hint=hint)
    if loaded is None or not symptom.key or (symptom.key[0],) not in loaded.source.marks:
        return found
    return finding_at(loaded.source.mark(symptom.key), code, found.message, hint)


def _sentence(match: Match) -> str:
    """The cause in the words of its code; a rule says what should be, so that it is said not to be."""
    code = match.symptom.codes[0]
    if code in rules():
        return f"this seems not to hold: {' '.join(rules()[code].summary.split())}"
    return _fill_template(match.symptom.says or other_codes()[code], match)


def _fill_template(template: str, match: Match) -> str:
    groups = {name: _short(value) for name, value in match.found.groupdict(default="").items()}
    return template.format_map(groups) if groups else template


def _short(value: str) -> str:
    value = value.rpartition("::")[2].rstrip(' "|;')
    return value if len(value) <= LONGEST else f"{value[:LONGEST]}…"
