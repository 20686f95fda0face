"""Whether the digest in a spec's `image_digest` is one of the release, as the release's registry has it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from botocore.exceptions import ClientError

from triton_fleet.awsapi.errors import DENIAL_CODES
from triton_fleet.awsapi.images.reference import image_reference
from triton_fleet.awsapi.images.registry import read_image, requested_image
from triton_fleet.catalog.images import Image
from triton_fleet.context.context import EndpointContext
from triton_fleet.findings import CannotRunError, Finding, FindingsError, Severity
from triton_fleet.project.project import LoadedSpec
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.source import finding_at

CODE, KEY = "FL849", "image_digest"


@dataclass(frozen=True)
class _Doubt:
    message: str
    hint: str
    severity: Severity


def pinned_release_findings(
    ecr: Callable[[], Any], environment: Environment, specs: Iterable[LoadedSpec]
) -> list[Finding]:
    """An error for each `image_digest` that is not of the release of `triton`, at its line.

    The digest is of the release if the release's tag has it, or if the image's own configuration names the
    release. What the credentials or the configuration do not show is a warning. The registry is called
    once for each image, and only if a spec has the key.

    Raises:
        ClientError: AWS refuses otherwise.
    """
    doubts: dict[Image, _Doubt | None] = {}
    findings = []
    for spec in specs:
        image = EndpointContext(loaded_spec=spec, environment=environment, lock=None).release_image
        if image is None or image.digest is None:
            continue
        if image not in doubts:
            doubts[image] = _doubt(ecr(), image)
        if doubt := doubts[image]:
            finding = finding_at(spec.source.latest_mark((KEY,)), CODE, doubt.message, doubt.hint)
            findings.append(replace(finding, severity=doubt.severity))
    return findings


def _doubt(ecr: Any, image: Image) -> _Doubt | None:
    release, release_image = image.details.name, replace(image, digest=None)
    claim = f"whether {image.digest} is Triton {release}"
    reference = image_reference(image.reference)
    try:
        manifest, _ = requested_image(ecr, image_reference(release_image.reference))
        if manifest is not None and manifest["imageId"]["imageDigest"] == image.digest:
            return None
        facts = read_image(ecr, reference, layers=False).facts
    except (ClientError, CannotRunError) as error:
        if isinstance(error, ClientError) and error.response["Error"]["Code"] not in DENIAL_CODES:
            raise
        actions = "ecr:BatchGetImage and ecr:GetDownloadUrlForLayer"
        hint = f"allow {actions} on {reference.repository_arn}, or remove `{KEY}`"
        return _Doubt(f"the registry does not show {claim}: {error}", hint, Severity.WARNING)
    except FindingsError as error:
        return _Doubt(error.findings[0].message, f"remove `{KEY}`", Severity.ERROR)
    if facts.triton is None:
        hint = f"compare it with the digest that {release_image.reference} has in ECR"
        return _Doubt(f"the image's configuration does not show {claim}", hint, Severity.WARNING)
    if facts.triton == release:
        return None
    message = f"{image.digest} is Triton {facts.triton}, and `triton` of the spec is {release}"
    return _Doubt(message, f"remove `{KEY}`, or write the digest of an image of {release}", Severity.ERROR)
