"""Everything that is wrong with one config.pbtxt, without its folder."""

from __future__ import annotations

from collections.abc import Iterator

from fleet.findings import Finding
from fleet.repository.config.backend import backend_of, identity, runtime
from fleet.repository.config.backend_tensors import backend_tensors
from fleet.repository.config.batch_io import batch_io
from fleet.repository.config.batching import batching
from fleet.repository.config.ensemble import ensemble
from fleet.repository.config.extras import metrics, repository_agents, response_cache
from fleet.repository.config.instances import instances
from fleet.repository.config.newer import newer_fields
from fleet.repository.config.parameters import parameters
from fleet.repository.config.parsed import ParsedConfig
from fleet.repository.config.sequences import sequences
from fleet.repository.config.tensors import tensors
from fleet.repository.config.versions import version_policy
from fleet.repository.config.warm_up import warm_up

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
    yield from newer_fields(config, release)
    yield from identity(config, release)
    for check in CHECKS:
        yield from check(config)
    served = backend or backend_of(config)
    yield from parameters(config, served, release)
    yield from backend_tensors(config, served, release)
