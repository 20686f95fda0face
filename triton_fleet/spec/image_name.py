"""The name of an image as Docker reads it: registry, repository, tag and digest.

Source: the grammar of github.com/distribution/reference.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_LENGTH = 512
"""Characters; a repository's name has at most 255."""
_HOST = r"localhost(?::\d+)?|[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::\d+)?|[A-Za-z0-9-]+:\d+"
_COMPONENT = r"[a-z0-9]+(?:(?:\.|_{1,2}|-+)[a-z0-9]+)*"
_NAME = re.compile(
    rf"(?:(?P<registry>{_HOST})/)?(?P<repository>{_COMPONENT}(?:/{_COMPONENT})*)"
    r"(?::(?P<tag>\w[\w.-]{0,127}))?(?:@(?P<digest>sha256:[0-9a-f]{64}))?",
    re.ASCII,
)


@dataclass(frozen=True, kw_only=True)
class ImageName:
    """An image's name; registry, tag and digest are empty where they are left out."""

    registry: str = ""
    repository: str
    tag: str = ""
    digest: str = ""

    @property
    def place(self) -> str:
        """Registry and repository."""
        return f"{self.registry}/{self.repository}" if self.registry else self.repository

    def __str__(self) -> str:
        tag = f":{self.tag}" if self.tag else ""
        return f"{self.place}{tag}{'@' if self.digest else ''}{self.digest}"


def image_name(text: str) -> ImageName | None:
    """The parts of a name; None where it is not the name of an image."""
    match = _NAME.fullmatch(text) if len(text) <= MAX_LENGTH else None
    return ImageName(**{part: value or "" for part, value in match.groupdict().items()}) if match else None
