"""Which container images the embedded AWS can serve: it has this machine's Triton, and runs no container."""

from __future__ import annotations

from collections.abc import Mapping

from triton_fleet.catalog.images import TRITON_REPOSITORY
from triton_fleet.context.registries import is_fleet_repository
from triton_fleet.local.triton.shared_container import is_shared, missing_program
from triton_fleet.spec.image_name import image_name


def image_limit(uri: str, environment: Mapping[str, str]) -> str:
    """Why this machine cannot serve an image, as a sentence; empty if it can.

    `environment` is the Model's variables: an image that a fleet has built can be served if they are those of
    a shared container, whose program, nginx and Triton this machine has itself.
    """
    if is_release_image(uri):
        return ""
    if not (is_fleet_repository(_repository(uri)) and is_shared(environment)):
        return f"only {TRITON_REPOSITORY} images and shared containers are served on this machine, not {uri}"
    lacking = missing_program()
    return f"a shared container needs {lacking}, which this machine does not have" if lacking else ""


def is_release_image(uri: str) -> bool:
    """Whether an image is one of SageMaker's releases of Triton, by its tag or its digest."""
    return _repository(uri) == TRITON_REPOSITORY


def _repository(uri: str) -> str:
    name = image_name(uri)
    return name.repository if name is not None else ""
