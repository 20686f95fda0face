"""Everything that is wrong with one config.pbtxt, without its folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice
from typing import Any

from triton_fleet.catalog.releases import fields_since
from triton_fleet.findings import Finding
from triton_fleet.repository.config.backend import backend_of, identity, runtime
from triton_fleet.repository.config.backend_tensors import backend_tensors
from triton_fleet.repository.config.batching import batch_io, batching
from triton_fleet.repository.config.ensemble import ensemble
from triton_fleet.repository.config.extras import metrics, repository_agents, response_cache, version_policy
from triton_fleet.repository.config.instances import instances
from triton_fleet.repository.config.message import ParsedConfig
from triton_fleet.repository.config.parameters import parameters
from triton_fleet.repository.config.sequences import sequences
from triton_fleet.repository.config.tensors import tensors
from triton_fleet.repository.config.warm_up import warm_up
from triton_fleet.repository.text_format.parser import ConfigField, Message, elements

MAX_FINDINGS = 50
"""The most findings of one check for a file."""
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
    """Settings that Triton, or the model's backend, would refuse or ignore.

    Args:
        config: The parsed text.
        release: The Triton release, such as "25.04"; None for the newest, where nothing depends on the image.
        backend: What serves the model by its files; if empty, by the configuration.
    """
    backend_name = backend or backend_of(config)
    for findings in (
        newer_fields(config, release),
        identity(config, release),
        *(check(config) for check in CHECKS),
        parameters(config, backend_name, release),
        backend_tensors(config, backend_name, release),
    ):
        yield from _first(list(islice(findings, MAX_FINDINGS)))


def _first(findings: list[Finding]) -> list[Finding]:
    """The first findings of one check; the last one ends with "and more"."""
    if len(findings) < MAX_FINDINGS:
        return findings
    last = findings[MAX_FINDINGS - 1]
    return [*findings[: MAX_FINDINGS - 1], replace(last, message=f"{last.message} (and more of the kind)")]


def newer_fields(config: ParsedConfig, release: str | None) -> Iterator[Finding]:
    """Each field of the text that came after the release; none where the release is not known."""
    if release is None or not any(name in config.content for name in _names_after(release)):
        return
    for message, field in _fields(config.message.DESCRIPTOR, config.tree.root):
        came = fields_since().get(message, {}).get(field.name, "")
        if came > release:
            reason = f'Message type "{message}" has no field named "{field.name}".'
            hint = f"Triton has it from {came} on, and the image is {release}: leave it out"
            yield config.finding_at("FL416", reason, field.at, hint=hint)


@cache
def _names_after(release: str) -> frozenset[bytes]:
    """The fields that came after a release: a text without these words needs no closer look."""
    entries = (entry for fields in fields_since().values() for entry in fields.items())
    return frozenset(name.encode() for name, came in entries if came > release)


def _fields(descriptor: Any, message: Message) -> Iterator[tuple[str, ConfigField]]:
    """Every field of a text with the full name of the message that it stands in."""
    for field in elements(message.fields):
        yield descriptor.full_name, field
        descriptor_field = descriptor.fields_by_name.get(field.name)
        if (
            descriptor_field is not None
            and descriptor_field.message_type is not None
            and isinstance(field.value, Message)
        ):
            yield from _fields(descriptor_field.message_type, field.value)
