"""What a build of an image is told: the JSON document that the publisher leaves in the artifact bucket."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from engine_request.problems import REFUSED, BuildError


@dataclass(frozen=True)
class ImageRequest:
    """One build; fleet/images/request.py says what each field is."""

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
            BuildError: it is none, or of another version of this script.
        """
        try:
            document: dict[str, Any] = json.loads(text)
            lists = {key: tuple(document[key]) for key in ("paths", "registries")}
            return cls(**{**document, **lists})
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise BuildError(
                REFUSED,
                f"the script cannot read this request: {error}",
                remedy="run `fleet images build` again",
            ) from error

    @property
    def name(self) -> str:
        """The image as Docker names it."""
        return f"{self.registry}/{self.repository}:{self.tag}"

    @property
    def script_digest(self) -> str:
        """That of the script, which its name says."""
        return f"sha256:{PurePosixPath(self.script).stem}"
