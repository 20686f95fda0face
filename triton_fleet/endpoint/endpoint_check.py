"""What a deployed endpoint is asked: targets to load, and samples as JSON."""

from __future__ import annotations

from dataclasses import dataclass

from triton_fleet.context.samples import samples_text, warm_targets
from triton_fleet.spec.endpoint import EndpointSpec


@dataclass(frozen=True, kw_only=True)
class ResolvedCheck:
    """`samples` is a JSON list; `warm` are TargetModels."""

    samples: str
    warm: tuple[str, ...]


def resolved_check(spec: EndpointSpec) -> ResolvedCheck:
    """The check of an endpoint; without samples it checks only the configuration."""
    return ResolvedCheck(samples=samples_text(spec), warm=warm_targets(spec))
