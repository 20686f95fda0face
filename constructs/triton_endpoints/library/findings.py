"""What is wrong with a construct, reported at its path when the app is synthesised."""

from __future__ import annotations

from collections.abc import Iterable

import jsii
from aws_cdk import Annotations
from constructs import Construct, IValidation

from triton_fleet.findings import Finding, Severity


@jsii.implements(IValidation)
class _Problems:
    """Sentences that make a synth fail; the CDK collects those of all constructs."""

    def __init__(self, texts: list[str]) -> None:
        self._texts = texts

    def validate(self) -> list[str]:
        """What is wrong."""
        return self._texts


def report(construct: Construct, findings: Iterable[Finding]) -> None:
    """Let errors fail the synth at the construct's path, and warnings be annotations to acknowledge."""
    found = list(dict.fromkeys(findings))
    if errors := [text(each) for each in found if each.severity is Severity.ERROR]:
        construct.node.add_validation(_Problems(errors))
    for each in found:
        if each.severity is Severity.WARNING:
            Annotations.of(construct).add_warning_v2(f"triton-fleet:{each.code}", text(each))


def text(finding: Finding) -> str:
    """One finding as a line: place, code, message, remedy."""
    place = f"{finding.place}: " if finding.place not in ("", ".") else ""
    hint = f"; remedy: {finding.hint}" if finding.hint else ""
    return f"{place}{finding.code} {finding.message}{hint}"
