"""Real TensorRT plans, which no local fleet can serve: told before anything is started."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fleet.decide.decided import Decided
from fleet.findings import Finding, Severity
from fleet.resolve.locks import read_lock
from fleet.spec.endpoint import Mode
from fleet.spec.environment import LOCAL
from fleet.spec.project import Project
from fleet.spec.source import finding_at

CODE = "FL374"


def plan_findings(project: Project) -> list[Finding]:
    """Endpoints that load plans of their repositories; only a warning where it is calls that load them.

    The plans of engines are another matter: those that this machine builds, a stand-in serves.
    """
    found = [each for name in project.endpoints for each in _of_endpoint(project, name)]
    refused = {each.file for each in found if each.severity is Severity.ERROR}
    others = " ".join(name for name in project.endpoints if project.load(name).source.file not in refused)
    if not others:
        return found
    leave = f"; or leave it out: `fleet local up {others}`"
    return [replace(each, hint=each.hint + leave * (each.severity is Severity.ERROR)) for each in found]


def _of_endpoint(project: Project, name: str) -> Iterator[Finding]:
    loaded = project.load(name)
    lock, _ = read_lock(project, loaded.spec)
    decided = Decided(loaded=loaded, environment=project.environment, lock=lock)
    plans = [each for each in decided.loaded_models() if each.facts.plans]
    if not plans:
        return
    multi = loaded.spec.mode is Mode.MULTI_MODEL
    what = "calls of its targets fail" if multi else "the endpoint cannot start"
    models = ", ".join(dict.fromkeys(each.name for each in plans))
    here = "this machine's Triton has no TensorRT, and no GPU"
    message = f"{here}: it loads no plan of {name!r} ({models}), and {what}"
    hint = (
        f"under `overrides` of environments/{LOCAL}.yaml, name a repository without the plan, and the ONNX"
        " model under `engines`: a stand-in serves it"
    )
    mark = loaded.source.mark(("models", plans[0].index, "archive"))
    severity = Severity.WARNING if multi else Severity.ERROR
    yield replace(finding_at(mark, CODE, message, hint), severity=severity)
