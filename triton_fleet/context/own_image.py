"""An image of the spec's own in place of the release's: where it is, and what is known to be inside."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from triton_fleet.catalog.images import Image, Release
from triton_fleet.spec.deployment import repository_of
from triton_fleet.spec.endpoint import Mode
from triton_fleet.spec.environment import Environment
from triton_fleet.spec.image import ImageFacts, LockedImage, OwnImage
from triton_fleet.spec.values import hexadecimal

NOT_BUILT = "not-built"
"""The tag of an image that no lock knows."""
_FACTS = ("server", "cuda", "tensorrt", "python")


@dataclass(frozen=True, kw_only=True)
class ImageContext:
    """An image of a spec's own, and what the spec has it for.

    Attributes:
        facts: What the lock records of its inside.
        triton: The release that the spec names.
        mode: How its container holds its models.
        backends: Those of the models that it loads.
    """

    facts: ImageFacts
    triton: str
    mode: Mode
    backends: frozenset[str]


def own_image(release: Image, image: OwnImage, lock: LockedImage | None, environment: Environment) -> Image:
    """The image that the container runs.

    Args:
        release: The image of the spec's release.
        image: What the spec names.
        lock: What the lock records of it; None before it is locked.
        environment: Where it runs.
    """
    details = _details(release.details, lock.contents if lock else None, is_based=image.build is not None)
    own = replace(release, details=details, cuda=details.cuda_major, release=details.name, is_own=True)
    if image.uri is not None:
        registry, _, repository = image.uri.partition("/")
        return replace(
            own, account=registry.partition(".")[0], repository=repository, tag="", digest=image.digest
        )
    key = lock.key if lock else None
    return replace(
        own,
        account=environment.account,
        repository=repository_of(environment.environment, environment.kms_key),
        tag=hexadecimal(key) if key else NOT_BUILT,
        digest=lock.digest if lock else None,
    )


def _details(release: Release, facts: ImageFacts | None, *, is_based: bool) -> Release:
    """Contents of the image: by its facts, else as the release that it is built on, else uncertain."""
    values = {name: getattr(facts, name, None) for name in _FACTS}
    facts_by_name = {name: value for name, value in values.items() if value is not None}
    unknown = [] if is_based else [name for name in _FACTS if name not in facts_by_name]
    if "cuda" in unknown:
        unknown.append("cuda_major")
    doubts = [name for name in release.uncertain if name not in facts_by_name]
    changes: dict[str, Any] = {**facts_by_name, "uncertain": tuple(dict.fromkeys((*doubts, *unknown)))}
    if "tensorrt" in facts_by_name or "tensorrt" in unknown:
        # Bounds of the release's version, not of this one.
        changes |= {"min_tensorrt": None, "max_tensorrt": None}
    if facts is not None and facts.triton is not None:
        changes["name"] = facts.triton
    return replace(release, **changes)
