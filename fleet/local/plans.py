"""Real TensorRT plans, which no local fleet can serve."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fleet.endpoint.context.context import Decided
from fleet.findings import Finding, Severity
from fleet.spec.endpoint import Mode
from fleet.spec.environment import LOCAL
from fleet.spec.source import finding_at

CODE = "FL374"


def plan_findings(decided: Decided) -> Iterator[Finding]:
    """That the endpoint loads plans of its repositories; only a warning where it is calls that load them.

    The plans of engines are another matter: those that this machine builds, a stand-in serves.
    """
    plans = [each for each in decided.loaded_models() if each.facts.plans]
    if not plans:
        return
    multi = decided.spec.mode is Mode.MULTI_MODEL
    what = "calls of its targets fail" if multi else "the endpoint cannot start"
    models = ", ".join(dict.fromkeys(each.name for each in plans))
    here = "this machine's Triton has no TensorRT, and no GPU"
    message = f"{here}: it loads no plan of {decided.spec.endpoint!r} ({models}), and {what}"
    hint = (
        f"under `overrides` of environments/{LOCAL}.yaml, name a repository without the plan, and the ONNX"
        " model under `engines`: a stand-in serves it"
    )
    mark = decided.source.mark(("models", plans[0].index, "archive"))
    severity = Severity.WARNING if multi else Severity.ERROR
    yield replace(finding_at(mark, CODE, message, hint), severity=severity)
