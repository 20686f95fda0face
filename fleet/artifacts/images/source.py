"""What an image is built from: the folder of a spec, read and checked, and the key that follows from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from fleet.catalog.images import Image
from fleet.endpoint.context.context import EndpointContext
from fleet.findings import Finding, FindingsError, Severity
from fleet.images.check import check_image
from fleet.images.context import BuildContext, read_context
from fleet.images.dockerfile import read_dockerfile
from fleet.images.inputs import ImageInputs
from fleet.images.key import image_key
from fleet.images.upload import context_digest
from fleet.spec.endpoint import Mode
from fleet.spec.environment import LOCAL, Environment
from fleet.spec.project import LoadedSpec, Project
from fleet.spec.source import Mark, finding_at

IMAGE = ("image",)


@dataclass(frozen=True, kw_only=True)
class ImageSource:
    """An image of one endpoint, ready to be built.

    Attributes:
        endpoint: The endpoint's name.
        mark: Where the spec names the folder.
        context: The folder's content.
        base: The release's image, which the Dockerfile gets as TRITON_IMAGE.
        arguments: The build arguments of the spec.
        key: Follows from all of these but the name and the place.
        warnings: What is doubtful about the Dockerfile.
    """

    endpoint: str
    mark: Mark
    context: BuildContext
    base: Image
    arguments: dict[str, str]
    key: str
    warnings: tuple[Finding, ...]


@dataclass(frozen=True)
class WantedImage:
    """One image, and all endpoints that run it: equal folders on equal releases share it."""

    key: str
    uses: tuple[ImageSource, ...]

    @property
    def first(self) -> ImageSource:
        """The use for which it is built."""
        return self.uses[0]


def image_source(loaded: LoadedSpec, environment: Environment) -> ImageSource | None:
    """The image that an endpoint's spec builds; None where it builds none, as on this machine.

    Raises:
        FindingsError: the folder, the Dockerfile or the release is wrong.
    """
    image = loaded.spec.image
    if image is None or image.build is None or environment.environment == LOCAL:
        return None
    mark = loaded.source.mark((*IMAGE, "build"))
    base = EndpointContext(loaded=loaded, environment=environment, lock=None).release_image
    if base is None:
        message = f"SageMaker has no image of Triton {loaded.spec.triton} in {environment.region} to build on"
        raise FindingsError([finding_at(loaded.source.mark(("triton",)), "FL202", message)])
    folder = _folder(image.build, mark)
    inputs = ImageInputs(
        dockerfile=read_dockerfile(folder, triton_image=base.reference, arguments=image.args),
        context=read_context(folder),
        release=loaded.spec.triton,
        argument_mark=lambda name: loaded.source.mark((*IMAGE, "args", name)),
        multi_model=loaded.spec.mode is Mode.MULTI_MODEL,
    )
    findings = check_image(inputs)
    if any(each.severity is Severity.ERROR for each in findings):
        raise FindingsError(findings)
    return ImageSource(
        endpoint=loaded.spec.endpoint,
        mark=mark,
        context=inputs.context,
        base=base,
        arguments=dict(image.args),
        key=image_key(context_digest(inputs.context), base.name, image.args),
        warnings=tuple(findings),
    )


def image_sources(project: Project) -> list[ImageSource]:
    """The images that a project's endpoints build.

    Raises:
        FindingsError: every mistake of every folder.
    """
    found, findings = list[ImageSource](), list(project.findings)
    for name in project.endpoints:
        try:
            source = image_source(project.load(name), project.environment)
        except FindingsError as error:
            findings += error.findings
        else:
            found += [source] if source else []
    if findings:
        raise FindingsError(findings)
    return found


def wanted_images(sources: Iterable[ImageSource]) -> list[WantedImage]:
    """Each image with its uses."""
    found: dict[str, list[ImageSource]] = {}
    for each in sources:
        found.setdefault(each.key, []).append(each)
    return [WantedImage(key, tuple(uses)) for key, uses in found.items()]


def _folder(path: str, mark: Mark) -> Path:
    folder = (mark.file.parent / path).resolve()
    if folder.is_dir():
        return folder
    message = f"{folder} is not a folder"
    hint = "`build` is relative to the spec's file: a folder with a Dockerfile and what it copies"
    raise FindingsError([finding_at(mark, "FL960", message, hint)])
