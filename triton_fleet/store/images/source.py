"""The source of an image: the folder of a spec, read and checked, and the release's image."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from triton_fleet.builds.images.artifacts import context_digest, image_key
from triton_fleet.builds.images.check import check_image
from triton_fleet.builds.images.context import BuildContext, read_context
from triton_fleet.builds.images.dockerfile import read_dockerfile
from triton_fleet.builds.images.inputs import ImageInputs
from triton_fleet.catalog.images import Image, registry_host
from triton_fleet.context.context import EndpointContext
from triton_fleet.core.folders import real_project_root, source_path
from triton_fleet.findings import Finding, FindingsError, Severity, all_of
from triton_fleet.project.project import LoadedSpec, Project
from triton_fleet.spec.environment import LOCAL, Environment
from triton_fleet.spec.image import PLATFORM, ImageFacts, LockedImage
from triton_fleet.spec.source import Mark, finding_at
from triton_fleet.store.sources.spec_sources import reviewed_tree, spec_path

IMAGE = ("image",)
RELEASE_FACTS = ("server", "cuda", "tensorrt", "python")
"""The facts that an image has of its release, unless its Dockerfile installs another one."""


@dataclass(frozen=True, kw_only=True)
class ImageSource:
    """An image of one endpoint, ready to be built.

    Attributes:
        endpoint: The endpoint's name.
        mark: Where the spec names the folder.
        context: The folder's content.
        content: The digest of the Dockerfile and of what the build can read of the folder.
        base: The release's image, which the Dockerfile gets as TRITON_IMAGE; with a digest where the spec
            has one, and so part of the key.
        arguments: The build arguments of the spec.
        registries: Hosts in ECR that the Dockerfile may name, beside the release's.
        expected: The contents that follow from the release, for a Dockerfile that begins with TRITON_IMAGE.
        warnings: What is doubtful about the Dockerfile.
    """

    endpoint: str
    mark: Mark
    context: BuildContext
    content: str
    base: Image
    arguments: dict[str, str]
    registries: tuple[str, ...]
    expected: ImageFacts
    warnings: tuple[Finding, ...]

    @property
    def key(self) -> str:
        """The key of the image: the digest of its base counts only where the spec names it."""
        return image_key(self.content, self.base.name, self.arguments)

    @property
    def locked_image(self) -> LockedImage:
        """As a lock has it before a build: all of it follows from files."""
        return LockedImage(key=self.key, base=self.base.digest, expected=self.expected)


def image_difference(source: ImageSource, entry: LockedImage) -> str:
    """How a lock's image differs from the one of the folder; "" where it does not.

    Without a digest all of it follows from the folder and the release. Locks of earlier versions have a
    digest, and keys that count the digest of the base, whether or not the spec names it.
    """
    digest = source.base.digest
    if digest is not None and entry.base not in (None, digest):
        return f"the lock's image is built on {entry.base}, but `image_digest` of the spec is {digest}"
    keys = {source.key}
    if entry.digest is None:
        if entry.key == source.key and entry != source.locked_image:
            return "what the lock expects of the image does not follow from its folder and the release"
    elif entry.base is not None:
        bases = (replace(source.base, digest=base_digest) for base_digest in (None, entry.base))
        keys |= {replace(source, base=base).key for base in bases}
    if entry.key in keys:
        return ""
    return "the folder, its arguments or the release changed since the lock was written"


@dataclass(frozen=True)
class WantedImage:
    """One image and all endpoints that run it: equal folders on one release share it.

    `base` has a digest where the spec or a lock has one.
    """

    key: str
    base: Image
    uses: tuple[ImageSource, ...]

    @property
    def first(self) -> ImageSource:
        """The use for which it is built."""
        return self.uses[0]


def image_source(loaded_spec: LoadedSpec, environment: Environment) -> ImageSource | None:
    """The image that an endpoint's spec builds; None where it builds none, as on this machine.

    Raises:
        FindingsError: the folder, the Dockerfile or the release is wrong.
    """
    image = loaded_spec.spec.own_image
    if image is None or image.build is None or environment.environment == LOCAL:
        return None
    is_mode_own = loaded_spec.spec.builds_mode_image
    mark = loaded_spec.source.mark(("mode",) if is_mode_own else (*IMAGE, "build"))
    base = EndpointContext(loaded_spec=loaded_spec, environment=environment, lock=None).release_image
    if base is None:
        message = (
            f"SageMaker has no image of Triton {loaded_spec.spec.triton} in {environment.region} to build on"
        )
        raise FindingsError([finding_at(loaded_spec.source.mark(("triton",)), "FL202", message)])
    folder = source_path(image.build) if is_mode_own else _folder(image.build, mark)
    inputs = ImageInputs(
        dockerfile=read_dockerfile(folder, triton_image=base.reference, arguments=image.args),
        context=read_context(folder),
        release=loaded_spec.spec.triton,
        environment=environment,
        argument_mark=lambda name: loaded_spec.source.mark((*IMAGE, "args", name)),
        mode=loaded_spec.spec.mode,
    )
    findings = check_image(inputs)
    if any(finding.severity is Severity.ERROR for finding in findings):
        raise FindingsError(findings)
    return ImageSource(
        endpoint=loaded_spec.spec.endpoint,
        mark=mark,
        context=inputs.context,
        content=context_digest(inputs.context),
        base=base,
        arguments=dict(image.args),
        registries=tuple(_registries(inputs)),
        expected=_base_facts(inputs, base),
        warnings=tuple(findings),
    )


def image_sources(project: Project) -> list[ImageSource]:
    """The images that a project's endpoints build.

    Raises:
        FindingsError: every mistake of every folder.
    """
    load = lambda name: image_source(project.load(name), project.environment)  # noqa: E731
    return list(filter(None, all_of(project.endpoints, load, project.findings)))


def wanted_images(project: Project, sources: Iterable[ImageSource]) -> list[WantedImage]:
    """Each image with its uses, as the locks have it where these are of the same folders."""
    images: dict[str, tuple[Image, list[ImageSource]]] = {}
    for source in sources:
        entry, key, base = lock_of_image(project, source.endpoint), source.key, source.base
        if entry is not None and entry.key is not None and not image_difference(source, entry):
            key, base = entry.key, replace(base, digest=entry.base or base.digest)
        used_base, uses = images.setdefault(key, (base, []))
        uses.append(source)
        images[key] = (base if used_base.digest is None else used_base, uses)
    return [WantedImage(key, base, tuple(uses)) for key, (base, uses) in images.items()]


def lock_of_image(project: Project, endpoint: str) -> LockedImage | None:
    """The image in an endpoint's lock; None where there is none, or the lock cannot be read."""
    lock = project.readable_lock(endpoint)
    return lock.image if lock else None


def _base_facts(inputs: ImageInputs, base: Image) -> ImageFacts:
    """The facts of an image that is not built: of another base than TRITON_IMAGE, the release alone."""
    lineage, release = inputs.dockerfile.lineage, base.details
    facts = {"architecture": PLATFORM, "triton": release.name}
    if lineage and lineage[0].image == inputs.dockerfile.triton_image:
        cuda = ".".join(release.cuda.split(".")[:2])
        versions = {name: getattr(release, name) for name in RELEASE_FACTS} | {"cuda": cuda}
        facts |= {name: value for name, value in versions.items() if value and name not in release.uncertain}
    return ImageFacts.model_validate(facts)


def _registries(inputs: ImageInputs) -> Iterator[str]:
    """The registries of allowed accounts whose number is somewhere in the Dockerfile or its arguments."""
    texts = [*(instruction.raw for instruction in inputs.dockerfile.instructions), *inputs.arguments.values()]
    for account in inputs.environment.allowed_accounts:
        if any(account in text for text in texts):
            yield registry_host(account, inputs.environment.region)


def _folder(path: str, mark: Mark) -> Path:
    folder = spec_path(mark, path)
    roots = {reviewed_tree(mark.file.parent), real_project_root(mark.file.parent)} - {None}
    if inside := [root for root in roots if root is not None and root.is_relative_to(folder)]:
        message = f"{path} leads to {folder}, a folder with all of {max(inside)}"
        hint = "write a folder of its own for the image, with its Dockerfile and what that copies"
        raise FindingsError([finding_at(mark, "FL945", message, hint)])
    if folder.is_dir():
        return folder
    message = f"{folder} is not a folder"
    hint = "`build` is relative to the spec's file: a folder with a Dockerfile and what it copies"
    raise FindingsError([finding_at(mark, "FL960", message, hint)])
