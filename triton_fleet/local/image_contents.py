"""The release and the Python packages of an endpoint's image, by the fleet's files: no image runs here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fleet_emulator.hosting import DeployedEndpoint
from triton_fleet.catalog.images import release_of_tag
from triton_fleet.catalog.releases import normal_name, pinned_version
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.local.limitations import is_release_image
from triton_fleet.local.triton.runtime import RELEASE
from triton_fleet.project.project import Project, open_project
from triton_fleet.spec.environment import ENVIRONMENT_TAG
from triton_fleet.spec.image_name import image_name

MODE_PACKAGES = "PACKAGES"
"""The argument of containers/shared/Dockerfile with the lines of a requirements file."""


@dataclass(frozen=True)
class ImageContents:
    """The assumed contents of an image of one's own, or of the release's.

    Attributes:
        release: Triton's, such as "25.04".
        packages: Versions of the Python packages that the release's image does not have, or has in others.
    """

    release: str
    packages: Mapping[str, str] = field(default_factory=dict)


def named_contents(endpoint: DeployedEndpoint) -> ImageContents:
    """The contents by the image's name: those of this machine's release, where it names none."""
    name = image_name(endpoint.container.image)
    contents = release_of_tag(name.tag) if name and is_release_image(endpoint.container.image) else None
    return ImageContents(contents[0] if contents else RELEASE)


def fleet_contents(root: Path, endpoint: DeployedEndpoint) -> ImageContents:
    """The contents by the endpoint's spec and lock in a fleet's folder, else by the image's name."""
    names, name = named_contents(endpoint), image_name(endpoint.container.image)
    try:
        project = open_project(root, endpoint.tags.get(ENVIRONMENT_TAG, ""), [endpoint.id.name])
        spec = project.load(endpoint.id.name)
    except (FindingsError, CannotRunError, OSError):
        return names
    image = spec.spec.own_image
    if image is None:
        return names if name is None or name.tag else ImageContents(spec.spec.triton)
    packages = next(_locked_packages(project, endpoint.id.name), {})
    return ImageContents(
        spec.spec.triton, packages | dict(_pinned_packages(image.args.get(MODE_PACKAGES, "")))
    )


def _pinned_packages(requirements: str) -> Iterator[tuple[str, str]]:
    """Versions by normal name, of what the lines of a requirements file pin."""
    for line in requirements.replace("\\\n", " ").splitlines():
        words = line.partition("#")[0].partition(";")[0].split()
        if words and (version := pinned_version(words[0])):
            yield normal_name(version[0]), version[1]


def _locked_packages(project: Project, endpoint: str) -> Iterator[dict[str, str]]:
    """The packages of an image by the endpoint's locks, the environment's first: `local` has none."""
    fleet, own = project.fleet, project.environment.environment
    for name in sorted(fleet.environments, key=lambda name: name != own):
        lock = fleet.lock.readable(fleet.lock_file(name, endpoint))
        contents = lock.image.contents if lock is not None and lock.image is not None else None
        if contents is not None and contents.packages:
            yield dict(contents.packages)
