"""The request to a build of an image: a JSON document in the artifact bucket, for the build script."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass


@dataclass(frozen=True, kw_only=True)
class ImageRequest:
    """One build, ready to be started.

    Attributes:
        key: The image's.
        bucket: The artifact bucket, whose keys all others here are.
        context: The build context, a tar file; `context_digest` is that of the tar file.
        base: The release's image, which the build gives to the Dockerfile as TRITON_IMAGE.
        arguments: The build arguments of the spec.
        platform: `linux/amd64`.
        registry: The host of the account's own ECR.
        repository: The environment's.
        tag: The key in hexadecimal.
        paths: Patterns of the paths that show what is inside; the record has those that match.
        script: The build script.
        registries: Hosts of other accounts' registries that the Dockerfile may name.
        draft: Where the record is written before the push, without the digest.
        manifest: Where the record of the build is written, after the push.
        failure: Where the reason is written if there is no image.
        seconds: How long the build may take.
    """

    key: str
    bucket: str
    context: str
    context_digest: str
    base: str
    arguments: dict[str, str]
    platform: str
    registry: str
    repository: str
    tag: str
    paths: tuple[str, ...]
    script: str
    registries: tuple[str, ...]
    draft: str
    manifest: str
    failure: str
    seconds: int

    def json(self) -> str:
        """As the build script reads it."""
        return json.dumps(asdict(self), indent=2)
