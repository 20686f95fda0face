"""Builds one image from its context: every step is atomic, so an interrupted build never looks complete."""

from __future__ import annotations

import json
import re
import tarfile
import tempfile
from base64 import b64decode
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from engine_request.bucket import Bucket, TakenError
from engine_request.files import file_digest
from engine_request.host import builder, timestamp
from engine_request.problems import DIGEST_MISMATCH, REFUSAL, UNFIT_IMAGE, BuildError
from engine_request.process import Deadline
from engine_request.run import Client

from .docker import Docker
from .request import ImageRequest

ECR = re.compile(r"[0-9]{12}\.dkr\.ecr(-fips)?\.[a-z0-9-]+\.amazonaws\.com(\.cn)?\Z")
DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
NO_IMAGE = "ImageNotFoundException"
BASE = "TRITON_IMAGE"
"""The build argument with the release's image."""


def build_image(request: ImageRequest, bucket: Bucket, client: Client) -> None:
    """Build and push the image, unless its manifest exists.

    Raises:
        BuildError: there is no image, and why.
        ClientError, BotoCoreError: AWS refused something.
    """
    deadline, start = Deadline(request.seconds), timestamp()
    if bucket.head(request.manifest) is not None:
        print(f"{bucket.url(request.manifest)} exists already: nothing to do.")
        return
    docker, ecr = Docker(deadline), client("ecr")
    image = _image_of_tag(ecr, request)
    if image:
        # An earlier build ended between its push and its manifest; the tag can never move.
        draft = _earlier_draft(bucket, request)
    else:
        _log_in(docker, ecr, request)
        _build(docker, request, bucket)
        inspection = docker.inspect(request.name)
        _require_platform(inspection, request)
        draft = _draft(request, inspection, docker.paths(request.name, request.paths), start)
        bucket.write(request.draft, json.dumps(draft, indent=2).encode())
        docker.call("push", request.name)
        image = _image_of_tag(ecr, request)
    _require_manifest(image, request)
    document = {
        **draft,
        "digest": image["imageDigest"],
        "media_type": image.get("imageManifestMediaType"),
        "ended": timestamp(),
    }
    try:
        bucket.write(request.manifest, json.dumps(document, indent=2).encode(), only_if_new=True)
    except TakenError:
        print("Another build has recorded the image first.")
    print(f"{request.name} is pushed: {document['digest']}.")


def _log_in(docker: Docker, ecr: Any, request: ImageRequest) -> None:
    """To the registries of ECR; NVIDIA's needs no login for images of Triton."""
    token = ecr.get_authorization_token()["authorizationData"][0]["authorizationToken"]
    password = b64decode(token).decode().partition(":")[2]
    registries = (request.registry, request.base.partition("/")[0], *request.registries)
    for registry in dict.fromkeys(registries):
        if ECR.match(registry):
            docker.log_in(registry, password)


def _image_of_tag(ecr: Any, request: ImageRequest) -> Any:
    """The tag's image in the repository; None before it is pushed."""
    ids = [{"imageTag": request.tag}]
    try:
        answer = ecr.describe_images(repositoryName=request.repository, imageIds=ids)
    except ClientError as error:
        if error.response["Error"]["Code"] == NO_IMAGE:
            return None
        raise
    return answer["imageDetails"][0]


def _build(docker: Docker, request: ImageRequest, bucket: Bucket) -> None:
    with tempfile.TemporaryDirectory(prefix="image-build-") as name:
        folder, archive = Path(name) / "context", Path(name) / "context.tar"
        bucket.download(request.context, archive)
        digest = file_digest(archive)
        if digest != request.context_digest:
            raise BuildError(
                DIGEST_MISMATCH,
                f"the build context {bucket.url(request.context)} has the digest {digest}",
                remedy="delete it, and run `fleet images build` again",
            )
        try:
            with tarfile.open(archive) as tar:
                tar.extractall(folder, filter="data")
        except (tarfile.TarError, TypeError) as error:
            raise BuildError(REFUSAL, f"the build context cannot be unpacked: {error}") from error
        arguments = {BASE: request.base, **request.arguments}
        docker.build(request.name, str(folder), arguments, request.platform)


def _require_platform(inspection: dict[str, Any], request: ImageRequest) -> None:
    platform = f"{inspection.get('Os')}/{inspection.get('Architecture')}"
    if platform != request.platform:
        raise BuildError(
            UNFIT_IMAGE,
            f"the image is for {platform}, and the endpoint's instances are {request.platform}",
            remedy="build it on an image for that platform",
        )


def _require_manifest(image: Any, request: ImageRequest) -> None:
    media_type = image.get("imageManifestMediaType")
    if media_type not in (None, DOCKER_MANIFEST):
        raise BuildError(
            UNFIT_IMAGE,
            f"{request.name} has a manifest of the type {media_type}, which SageMaker refuses",
            remedy="delete the image, and build with a Docker that writes its own type of manifests",
        )


def _draft(request: ImageRequest, inspection: dict[str, Any], paths: list[str], start: str) -> dict[str, Any]:
    """The content of manifest.json without the digest: the image, and the sources of its facts."""
    return {
        "key": request.key,
        "repository": request.repository,
        "base": request.base,
        "arguments": sorted(request.arguments),
        "size": inspection.get("Size"),
        "config": {
            "os": inspection.get("Os"),
            "architecture": inspection.get("Architecture"),
            "config": {
                key: (inspection.get("Config") or {}).get(key)
                for key in ("Env", "Labels", "Entrypoint", "Cmd")
            },
        },
        "paths": paths,
        "script": request.script_digest,
        "by": builder(),
        "started": start,
    }


def _earlier_draft(bucket: Bucket, request: ImageRequest) -> dict[str, Any]:
    """The draft of the build that pushed the image: no build may read an image that is pushed.

    Raises:
        BuildError: there is none, or it is of another repository.
    """
    draft: dict[str, Any] = json.loads(bucket.read(request.draft) or b"{}")
    if (draft.get("key"), draft.get("repository")) == (request.key, request.repository):
        return draft
    raise BuildError(
        REFUSAL,
        f"{request.name} is pushed, but {bucket.url(request.draft)} does not describe its content",
        remedy=(
            f"run `aws ecr batch-delete-image --repository-name {request.repository}"
            f" --image-ids imageTag={request.tag}`, then `fleet images build` again"
        ),
    )
