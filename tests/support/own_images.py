"""Fleet folders whose endpoint runs an image of its own, as a lock records it."""

from __future__ import annotations

from typing import Any

from tests.support.fleet_folder import FleetFolder
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.spec.image import ImageFacts, LockedImage
from triton_fleet.store.lock import lock_text

DIGEST, KEY = f"sha256:{'d' * 64}", f"sha256:{'e' * 64}"
"""Of an image's manifest, and of what an image is built from."""
REGISTRY = "111122223333.dkr.ecr.us-east-1.amazonaws.com"
BUILT_IMAGE = "image: {build: ../images/detector}\n"
OWN_IMAGE = f'image: {{uri: {REGISTRY}/team/detector, digest: "{DIGEST}"}}\n'
"""Keys of a spec: an image that is built, and one that exists."""


def lock_image(
    folder: FleetFolder,
    *,
    digest: str = DIGEST,
    key: str | None = None,
    environment: str = "dev",
    **facts: Any,
) -> None:
    """Let the lock of `sentences` record an image, with what is known of it; without facts nothing is."""
    file = folder.root / "locks" / environment / "sentences.lock.yaml"
    known_values = ImageFacts.model_validate(facts) if facts else None
    image = LockedImage(digest=digest, key=key, facts=known_values)
    file.write_text(lock_text(load_lock(file).model_copy(update={"image": image})))
