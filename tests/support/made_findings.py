"""Findings that differ in what the printers group them by."""

from __future__ import annotations

from pathlib import Path

from triton_fleet.findings import Finding, Severity


def missing_lock(root: Path, name: str, *, severity: Severity = Severity.WARNING) -> Finding:
    return Finding(
        code="FL301",
        message=f"there is no lock of {name!r} for 'dev'",
        hint=f"run `fleet lock --env dev {name}`",
        file=root / f"locks/dev/{name}.lock.yaml",
        severity=severity,
    )


def different(root: Path, number: int, severity: Severity = Severity.ERROR) -> Finding:
    return Finding(
        code="FL110",
        message=f"unknown key `k{number}`",
        file=root / "model_specs/a.yaml",
        line=number + 1,
        severity=severity,
    )
