"""The rules applied to an endpoint, and what its spec allows itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from triton_fleet.context.context import EndpointContext
from triton_fleet.findings import Finding, Severity
from triton_fleet.rules.codes import allowable_codes, allowance_advice, other_codes
from triton_fleet.rules.names import allowable_names, allowed_codes, code_of
from triton_fleet.rules.registry import rules
from triton_fleet.spec.problems import did_you_mean
from triton_fleet.spec.source import finding_at


def rule_findings(endpoint: EndpointContext, *, is_deploy: bool = False) -> list[Finding]:
    """The findings of the rules without those that `allow` of the spec silences, and mistakes in `allow`.

    Args:
        endpoint: The endpoint in its environment.
        is_deploy: Whether it is to be deployed now; some rules only warn before.
    """
    subjects = {scope: list(scope.subjects(endpoint)) for scope in {rule.scope for rule in rules().values()}}
    findings = [
        finding
        for rule in rules().values()
        for finding in rule.findings(endpoint.source, subjects[rule.scope], is_deploy=is_deploy)
    ]
    codes = allowed_codes(endpoint.spec.allow)
    allowed_rules = {
        code
        for code, rule in rules().items()
        if (code in codes and not rule.is_needed) or rule.in_files in codes
    }
    remainder = [result for result in findings if result.code not in allowed_rules]
    return [*remainder, *_about_allow(endpoint, {result.code for result in findings}, allowed_rules)]


def _about_allow(
    endpoint: EndpointContext, broken_rules: Iterable[str], allowed_rules: set[str]
) -> Iterator[Finding]:
    for word in endpoint.spec.allow:
        code, mark = code_of(word), endpoint.source.mark(("allow", word))
        if code in allowable_codes():
            continue
        if code in other_codes():
            message = f"{word} cannot be allowed in a spec: it is not a rule"
            yield finding_at(mark, "FL131", message, allowance_advice(code))
        elif code not in rules():
            hint = did_you_mean(word, list(rules()) if word.startswith("FL") else allowable_names())
            yield finding_at(mark, "FL131", f"`allow` names {word}, which is not a rule", hint)
        elif code not in allowed_rules:
            message = f"{word} cannot be allowed: other checks depend on what it requires"
            yield finding_at(mark, "FL131", message, rules()[code].summary)
        elif endpoint.reads_folders and rules()[code].in_files:
            continue  # it may be found where the lock alone is known
        elif code not in broken_rules and mark.file == endpoint.source.file:
            message = f"`allow` names {word}, which finds nothing here"
            finding = finding_at(mark, "FL130", message, "leave it out")
            yield replace(finding, severity=Severity.WARNING)
