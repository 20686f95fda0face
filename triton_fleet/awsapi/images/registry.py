"""An image of Amazon ECR, read without Docker: its manifest, its configuration, the names in its layers.

Source: OCI image specification, layer.md; RFC 8878, the magic number of Zstandard.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from botocore.exceptions import ClientError

from triton_fleet.awsapi.errors import DENIAL_CODES, aws_errors_as_findings
from triton_fleet.awsapi.images.download import open_blob, read_blob
from triton_fleet.awsapi.images.manifest import MEDIA_TYPES, Index, Manifest, parse_json, parse_manifest
from triton_fleet.awsapi.images.reference import ImageReference
from triton_fleet.builds.images.facts import TooManyPathsError, facts_of_config, facts_of_paths, merge
from triton_fleet.findings import CannotRunError, Finding, FindingsError, Severity
from triton_fleet.repository.reading.gunzip import Bounds, gunzip
from triton_fleet.repository.reading.tar import members
from triton_fleet.repository.stream import PIECE, CutOffError, Stream, UnreadableError
from triton_fleet.spec.image import DOCKER_MANIFEST, PLATFORM, ImageFacts

ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
ZSTD_MODULE = "compression.zstd"
"""What Python has since 3.14."""


class NoZstdError(Exception):
    """A layer is compressed with Zstandard, which this Python cannot undo."""


class Unzstd(Stream):
    """The content of a Zstandard stream."""

    def __init__(self, archive: Stream, bounds: Bounds) -> None:
        super().__init__()
        self._archive, self._bounds = archive, bounds
        self._zstd: Any = import_module(ZSTD_MODULE)
        self._inflate = self._zstd.ZstdDecompressor()

    def _next(self) -> bytes:
        piece = b""
        while not piece:
            data = b""
            if self._inflate.eof:
                data = self._inflate.unused_data or self._archive.read(PIECE)
                if not data:
                    return b""
                self._inflate = self._zstd.ZstdDecompressor()
            elif self._inflate.needs_input:
                data = self._archive.read(PIECE)
                if not data:
                    raise CutOffError("it is cut off: the end of its Zstandard stream is missing")
            try:
                piece = self._inflate.decompress(data, PIECE)
            except self._zstd.ZstdError as error:
                raise UnreadableError(f"its Zstandard stream is damaged: {error}") from error
        self._bounds.unpack(len(piece))
        return piece


def layer_paths(archive: Stream, bounds: Bounds) -> Iterator[str]:
    """The names of a layer's entries, those of folders with a `/` at the end.

    Raises:
        UnreadableError: it is not a tar stream, a damaged one, or more than `bounds` lets through.
        NoZstdError: this Python cannot read it.
    """
    stream = archive
    if archive.peek(len(ZSTD_MAGIC)) == ZSTD_MAGIC:
        if not has_zstd():
            raise NoZstdError
        stream = Unzstd(archive, bounds)
    for member in members(gunzip(stream, bounds), bounds):
        yield f"{member.path.rstrip('/')}/" if member.is_folder else member.path


def has_zstd() -> bool:
    """Whether this Python can undo Zstandard."""
    return find_spec("_zstd") is not None


NO_REPOSITORY = "RepositoryNotFoundException"
NO_LAYER = ("LayersNotFoundException", "LayerInaccessibleException")
ACTIONS = "ecr:BatchGetImage and ecr:GetDownloadUrlForLayer"
OTHER_ACCOUNT = "if the repository is another account's, its policy has to allow them as well"
NO_ZSTD = "a layer is compressed with Zstandard, which Python can read since 3.14"


@dataclass(frozen=True, kw_only=True)
class StoredManifest:
    """An image's manifest, and the text of which its digest is."""

    text: str
    manifest: Manifest


@dataclass(frozen=True, kw_only=True)
class RegistryImage:
    """An image as the registry has it.

    Attributes:
        image: What was asked for, with the digest of the image itself, not that of an index.
        index: The digest of the index that it was found in; "" without one.
        unread: Why its layers were not read; "" if they were, or were not asked for.
        size: Bytes of its layers, compressed.
    """

    image: ImageReference
    index: str
    facts: ImageFacts
    unread: str
    size: int


def read_image(ecr: Any, image: ImageReference, *, layers: bool) -> RegistryImage:
    """Read an image by its digest or tag; with `layers` all of it is downloaded, and nothing kept.

    Raises:
        FindingsError: the registry does not have it, it is for other processors, or damaged.
        CannotRunError: AWS refuses or does not answer.
    """
    with image_errors_as_findings(image):
        manifest, index = _manifest(ecr, image)
        reference = image.at(manifest.digest)
        content = read_blob(ecr, reference, manifest.config)
        facts = facts_of_config(parse_json(content, "its configuration"))
        if facts.architecture != PLATFORM:
            raise _foreign(image, [facts.architecture or "an unknown platform"])
        facts = facts.model_copy(update={"media_type": manifest.media_type})
        unread = ""
        if layers:
            try:
                with closing(_layers(ecr, reference, manifest)) as paths:
                    facts = merge(facts, facts_of_paths(paths))
            except NoZstdError:
                unread = NO_ZSTD
    size = sum(layer.size for layer in manifest.layers)
    return RegistryImage(image=reference, index=index, facts=facts, unread=unread, size=size)


def stored_manifest(ecr: Any, image: ImageReference) -> StoredManifest:
    """The manifest of one image.

    Raises:
        FindingsError: the registry does not have it, it is damaged, or an index of several images.
        CannotRunError: AWS refuses or does not answer.
    """
    with image_errors_as_findings(image):
        text, _, manifest = _one_manifest(ecr, image)
        if isinstance(manifest, Index):
            raise UnreadableError("it is an index of several images")
    return StoredManifest(text=text, manifest=manifest)


@contextmanager
def image_errors_as_findings(image: ImageReference) -> Iterator[None]:
    """Turn what goes wrong while an image is read into findings.

    Raises:
        FindingsError: the registry does not have it, or it is damaged.
        CannotRunError: AWS refuses or does not answer.
    """
    with aws_errors_as_findings(), _registry_errors(image), _damage(image):
        yield


def requested_image(ecr: Any, image: ImageReference) -> tuple[Mapping[str, Any] | None, str]:
    """BatchGetImage's answer for one image; None, and the reason, if the registry does not have it.

    Raises:
        ClientError: access is denied.
    """
    image_id = {"imageTag": image.tag} if image.digest is None else {"imageDigest": image.digest}
    try:
        answer = ecr.batch_get_image(
            registryId=image.account,
            repositoryName=image.repository,
            imageIds=[image_id],
            acceptedMediaTypes=list(MEDIA_TYPES),
        )
    except ClientError as error:
        if error.response["Error"]["Code"] != NO_REPOSITORY:
            raise
        return None, str(error.response["Error"]["Message"])
    if answer["images"]:
        return answer["images"][0], ""
    failures = [
        f"{failure.get('failureReason', '')} ({failure['failureCode']})" for failure in answer["failures"]
    ]
    return None, "; ".join(failures) or "the registry gives no reason"


def manifest_findings(registry_image: RegistryImage) -> list[Finding]:
    """A warning where CreateModel refuses the type of the manifest.

    Source: aws/amazon-sagemaker-feedback 180 and mlflow/mlflow 13834, "Unsupported manifest media type".
    """
    media_type = registry_image.facts.media_type
    if media_type == DOCKER_MANIFEST:
        return []
    message = f"{registry_image.image.name} has a manifest of the type {media_type}, which SageMaker refuses"
    hint = "build it with `docker buildx build --provenance=false --output type=docker`, and push it again"
    return [Finding(code="FL635", message=message, hint=hint, severity=Severity.WARNING)]


def _manifest(ecr: Any, image: ImageReference) -> tuple[Manifest, str]:
    """The manifest of the image itself, and the digest of the index that it is in."""
    _, digest, manifest = _one_manifest(ecr, image)
    if isinstance(manifest, Manifest):
        return manifest, ""
    if manifest.ours is None:
        raise _foreign(image, sorted(manifest.images))
    *_, child = _one_manifest(ecr, image.at(manifest.ours))
    if not isinstance(child, Manifest):
        raise UnreadableError("its index names another index")
    return child, digest


def _one_manifest(ecr: Any, image: ImageReference) -> tuple[str, str, Manifest | Index]:
    """The text of a manifest, its digest, and the manifest."""
    answer, reason = requested_image(ecr, image)
    if answer is None:
        raise _absence(image, reason)
    digest = str(answer["imageId"]["imageDigest"])
    if image.digest not in (None, digest):
        raise UnreadableError(f"the registry answers with another image, {digest}")
    text = str(answer["imageManifest"])
    return text, digest, parse_manifest(text, digest)


def _layers(ecr: Any, image: ImageReference, manifest: Manifest) -> Generator[Iterator[str], None, None]:
    bounds = Bounds(sum(layer.size for layer in manifest.layers))
    for blob in manifest.layers:
        with open_blob(ecr, image, blob) as stream:
            yield layer_paths(stream, bounds)
            stream.finish()


@contextmanager
def _registry_errors(image: ImageReference) -> Iterator[None]:
    try:
        yield
    except ClientError as error:
        code, message = error.response["Error"]["Code"], error.response["Error"].get("Message", "")
        if code in NO_LAYER:
            raise _absence(image, message) from error
        if code in DENIAL_CODES:
            remedy = f"allow {ACTIONS} on {image.repository_arn}; {OTHER_ACCOUNT}"
            raise CannotRunError(f"{image.name} may not be read: {message}", remedy) from error
        raise


@contextmanager
def _damage(image: ImageReference) -> Iterator[None]:
    try:
        yield
    except (UnreadableError, TooManyPathsError) as error:
        message = f"{image.name} cannot be read as a container image: {error}"
        raise FindingsError(
            [Finding(code="FL634", message=message, hint="build and push it again")]
        ) from error


def _absence(image: ImageReference, reason: str) -> FindingsError:
    if image.digest is not None:
        message = f"the registry does not have, or no longer has, the digest {image.digest} of {image.uri}"
        hint = f"run `fleet images inspect {image.uri}`, which shows the digest that the tag names now"
        if image.tag is None:
            hint = "write the digest of an image that the repository has"
    else:
        message, hint = f"the registry does not have {image.uri}", "write a repository and a tag that exist"
    return FindingsError([Finding(code="FL628", message=f"{message}: {reason}", hint=hint)])


def _foreign(image: ImageReference, platforms: list[str]) -> FindingsError:
    message = f"{image.name} is for {', '.join(platforms[:8]) or 'no platform'}, and not for {PLATFORM}"
    hint = f"build it with `docker buildx build --platform {PLATFORM}`, and push it again"
    return FindingsError([Finding(code="FL633", message=message, hint=hint)])
