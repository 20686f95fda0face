"""Everything that is wrong with one config.pbtxt, without its folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

from fleet.findings import Finding
from fleet.repository.config.backend import backend_of, identity, runtime
from fleet.repository.config.backend_tensors import backend_tensors
from fleet.repository.config.batch_io import batch_io
from fleet.repository.config.batching import batching
from fleet.repository.config.ensemble import ensemble
from fleet.repository.config.extras import metrics, repository_agents, response_cache
from fleet.repository.config.instances import instances
from fleet.repository.config.message import ParsedConfig
from fleet.repository.config.newer import newer_fields
from fleet.repository.config.parameters import parameters
from fleet.repository.config.sequences import sequences
from fleet.repository.config.tensors import tensors
from fleet.repository.config.versions import version_policy
from fleet.repository.config.warm_up import warm_up

MOST = 50
"""So many findings of one check are told of a file."""
CHECKS = (
    runtime,
    tensors,
    batch_io,
    batching,
    sequences,
    ensemble,
    instances,
    version_policy,
    response_cache,
    repository_agents,
    warm_up,
    metrics,
)


def config_findings(config: ParsedConfig, release: str | None, backend: str = "") -> Iterator[Finding]:
    """What Triton, and the model's backend, would refuse or ignore.

    Args:
        config: The parsed text.
        release: The Triton release, such as "25.04"; None for the newest, where nothing depends on the image.
        backend: What serves the model where its files say so; else what the configuration says.
    """
    served = backend or backend_of(config)
    for found in (
        newer_fields(config, release),
        identity(config, release),
        *(check(config) for check in CHECKS),
        parameters(config, served, release),
        backend_tensors(config, served, release),
    ):
        yield from _first(list(islice(found, MOST)))


def _first(found: list[Finding]) -> list[Finding]:
    """As many findings of one check as anybody reads; the last says that there are more."""
    if len(found) < MOST:
        return found
    last = found[MOST - 1]
    return [*found[: MOST - 1], replace(last, message=f"{last.message} (and more of the kind)")]
