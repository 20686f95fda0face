"""The request to a build of an image: one JSON document in the artifact bucket.

One file for both sides, as the request of an engine is: it keeps to the standard library of Python 3.10, and
imports nothing of either side.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import PurePosixPath
from typing import Any


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

    @classmethod
    def of(cls, text: bytes) -> ImageRequest:
        """The request of a document.

        Raises:
            ValueError, TypeError, KeyError, RecursionError: it is not a request of this version.
        """
        document: dict[str, Any] = json.loads(text)
        lists = {key: tuple(document[key]) for key in ("paths", "registries")}
        return cls(**{**document, **lists})

    def json(self) -> str:
        """The document in the bucket."""
        return json.dumps(asdict(self), indent=2)

    @property
    def name(self) -> str:
        """The image as Docker names it."""
        return f"{self.registry}/{self.repository}:{self.tag}"

    @property
    def script_digest(self) -> str:
        """The digest of the script, which is its file's name."""
        return f"sha256:{PurePosixPath(self.script).stem}"
