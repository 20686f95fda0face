"""The images that specs build, compared with their locks."""

from __future__ import annotations

from triton_fleet.findings import Finding
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.spec.lock import Lock


def image_findings(project: Project, loaded: LoadedSpec, lock: Lock | None) -> list[Finding]:
    """What is wrong or doubtful with the folder of a spec's own image, and how its lock differs from it."""
    if loaded.spec.own_image is None:
        return []
    from triton_fleet.store.images.lock import image_changes  # slow imports that only such specs need

    return image_changes(project, loaded, lock)
