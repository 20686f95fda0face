"""Breaches of one key of a policy's statement, and their findings."""

from __future__ import annotations

from dataclasses import dataclass, replace

from triton_fleet.findings import Finding, Severity
from triton_fleet.rules.policies.file import PolicyFile
from triton_fleet.spec.source import KeyPath, Mark, finding_at


@dataclass(frozen=True, kw_only=True)
class Breach:
    """One key of a statement that an endpoint breaks.

    Attributes:
        key: The key of the statement, such as `monthly_cost.endpoint`.
        code: The finding's code.
        path: Where it stands in the spec, or in the environment's file.
        observation: What the endpoint has, as the first half of a sentence.
        rule: What the policy has to that, as "allows ml.g5.*".
        remedy: What to write instead.
        of_environment: It stands in the environment's file, so that it is one finding for all endpoints.
        severity: A warning where nothing is broken yet, or where that is unknown.
    """

    key: str
    code: str
    path: KeyPath
    observation: str
    rule: str
    remedy: str
    of_environment: bool = False
    severity: Severity = Severity.ERROR


def breach_finding(breach: Breach, file: PolicyFile, index: int, mark: Mark, more: str = "") -> Finding:
    """A breach at its place, with the policy's line and owner and what would be allowed.

    Args:
        breach: What is broken.
        file: The policy.
        index: Which of its statements.
        mark: Where the finding stands.
        more: A further sentence.
    """
    name, owner = file.policy.statements[index].name, file.policy.owner
    by = ", ".join(filter(None, (f"`{name}`, of {owner.team}", owner.contact)))
    line = file.line(("statements", index, *breach.key.split(".")))
    message = f"{breach.observation}; {line} {breach.rule} ({by})"
    hint = f"{breach.remedy}, or ask {file.owner} for an exception"
    finding = finding_at(mark, breach.code, f"{message}. {more}" if more else message, hint)
    return replace(finding, severity=breach.severity)
