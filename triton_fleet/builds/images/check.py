"""Everything that can be known to be wrong with an image before it is built."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

from triton_fleet.builds.images.bases import check_bases
from triton_fleet.builds.images.buildkit import check_access, check_arguments, check_frontend
from triton_fleet.builds.images.context import changed_file
from triton_fleet.builds.images.dockerfile import DOCKERFILE
from triton_fleet.builds.images.inputs import ImageInputs
from triton_fleet.builds.images.secrets import check_secret_files, check_secrets
from triton_fleet.builds.images.sources import check_sources
from triton_fleet.builds.images.start import check_start
from triton_fleet.findings import Finding, Severity
from triton_fleet.spec.source import MAX_FINDINGS

CHECKS = (
    check_frontend,
    check_bases,
    check_sources,
    check_access,
    check_secrets,
    check_secret_files,
    check_start,
    check_arguments,
)


MAX_JUDGED = 2000
"""Findings of one check after which nothing further is looked at."""


def check_image(inputs: ImageInputs) -> list[Finding]:
    """The findings of an image, sorted: at most MAX_FINDINGS errors and as many warnings of each check."""
    found = chain(inputs.dockerfile.findings, inputs.context.findings, _change(inputs), _checks(inputs))
    return sorted(dict.fromkeys(found), key=lambda finding: finding.sort_key)


def _change(inputs: ImageInputs) -> Iterator[Finding]:
    """The Dockerfile that is checked is the one that the context holds, and so the one that is built."""
    sent = next((entry for entry in inputs.context.entries if entry.path == DOCKERFILE), None)
    if sent is not None and sent.digest != inputs.dockerfile.digest:
        yield changed_file(inputs.dockerfile.file, "changed while the build context was read")


def _checks(inputs: ImageInputs) -> Iterator[Finding]:
    """Of each check some errors and some warnings: many warnings hide no error."""
    for check in CHECKS:
        found = list(islice(check(inputs), MAX_JUDGED))
        errors = [each for each in found if each.severity is Severity.ERROR]
        if len(found) == MAX_JUDGED and not errors:
            message = (
                f"the Dockerfile has more than {MAX_JUDGED} doubtful instructions, and is not read to its end"
            )
            errors.append(Finding(code="FL921", message=message, file=inputs.dockerfile.file))
        yield from errors[:MAX_FINDINGS]
        yield from [each for each in found if each.severity is not Severity.ERROR][:MAX_FINDINGS]
