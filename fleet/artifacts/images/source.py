"""What an image is built from: the folder of a spec, read and checked, and the release's image."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from fleet.artifacts.sources.spec_path import fleet_root, reviewed_tree, spec_path
from fleet.catalog.images import Image, registry_host
from fleet.core.sources import source_path
from fleet.endpoint.context.context import EndpointContext
from fleet.endpoint.context.registries import allowed_accounts
from fleet.findings import Finding, FindingsError, Severity, all_of
from fleet.images.check import check_image
from fleet.images.context import BuildContext, read_context
from fleet.images.dockerfile import read_dockerfile
from fleet.images.inputs import ImageInputs
from fleet.images.key import image_key
from fleet.images.upload import context_digest
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
        content: The digest of the Dockerfile and of what the build can read of the folder.
        base: The release's image, which the Dockerfile gets as TRITON_IMAGE; with a digest where the spec
            has one.
        arguments: The build arguments of the spec.
        registries: Hosts in ECR that the Dockerfile may name, beside the release's.
        warnings: What is doubtful about the Dockerfile.
    """

    endpoint: str
    mark: Mark
    context: BuildContext
    content: str
    base: Image
    arguments: dict[str, str]
    registries: tuple[str, ...]
    warnings: tuple[Finding, ...]

    def key_on(self, base: Image) -> str:
        """The key of the image that is built on the release's image with this digest."""
        return image_key(self.content, base.name, self.arguments)


@dataclass(frozen=True)
class WantedImage:
    """One image, its base by digest, and all endpoints that run it: equal folders on one base share it."""

    key: str
    base: Image
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
    image = loaded.spec.own_image
    if image is None or image.build is None or environment.environment == LOCAL:
        return None
    is_mode_own = loaded.spec.builds_mode_image
    mark = loaded.source.mark(("mode",) if is_mode_own else (*IMAGE, "build"))
    base = EndpointContext(loaded=loaded, environment=environment, lock=None).release_image
    if base is None:
        message = f"SageMaker has no image of Triton {loaded.spec.triton} in {environment.region} to build on"
        raise FindingsError([finding_at(loaded.source.mark(("triton",)), "FL202", message)])
    folder = source_path(image.build) if is_mode_own else _folder(image.build, mark)
    inputs = ImageInputs(
        dockerfile=read_dockerfile(folder, triton_image=base.reference, arguments=image.args),
        context=read_context(folder),
        release=loaded.spec.triton,
        environment=environment,
        argument_mark=lambda name: loaded.source.mark((*IMAGE, "args", name)),
        mode=loaded.spec.mode,
    )
    findings = check_image(inputs)
    if any(each.severity is Severity.ERROR for each in findings):
        raise FindingsError(findings)
    return ImageSource(
        endpoint=loaded.spec.endpoint,
        mark=mark,
        context=inputs.context,
        content=context_digest(inputs.context),
        base=base,
        arguments=dict(image.args),
        registries=tuple(_registries(inputs)),
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


def wanted_images(
    sources: Iterable[ImageSource], digested: Callable[[ImageSource], Image]
) -> list[WantedImage]:
    """Each image with its uses; `digested` gives the base of a source with its digest.

    Raises:
        FindingsError: all that `digested` finds.
    """
    found: dict[str, tuple[Image, list[ImageSource]]] = {}
    for source, base in all_of(sources, lambda each: (each, digested(each))):
        found.setdefault(source.key_on(base), (base, []))[1].append(source)
    return [WantedImage(key, base, tuple(uses)) for key, (base, uses) in found.items()]


def _registries(inputs: ImageInputs) -> Iterator[str]:
    """The registries of allowed accounts whose number is somewhere in the Dockerfile or its arguments."""
    texts = [*(each.raw for each in inputs.dockerfile.instructions), *inputs.arguments.values()]
    for account in allowed_accounts(inputs.environment):
        if any(account in text for text in texts):
            yield registry_host(account, inputs.environment.region)


def _folder(path: str, mark: Mark) -> Path:
    folder = spec_path(mark, path)
    roots = {reviewed_tree(mark.file.parent), fleet_root(mark.file.parent)} - {None}
    if inside := [each for each in roots if each is not None and each.is_relative_to(folder)]:
        message = f"{path} leads to {folder}, a folder with all of {max(inside)}"
        hint = "write a folder of its own for the image, with its Dockerfile and what that copies"
        raise FindingsError([finding_at(mark, "FL945", message, hint)])
    if folder.is_dir():
        return folder
    message = f"{folder} is not a folder"
    hint = "`build` is relative to the spec's file: a folder with a Dockerfile and what it copies"
    raise FindingsError([finding_at(mark, "FL960", message, hint)])
