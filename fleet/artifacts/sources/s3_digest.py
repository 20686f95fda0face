"""The content of a repository in S3, held against what its spec expects."""

from __future__ import annotations

from fleet.artifacts.sources.s3_object import S3Location
from fleet.findings import FindingsError
from fleet.spec.source import finding_at


def compare_digest(location: S3Location, expected: str | None, found: str) -> None:
    """See that a repository holds what its spec expects.

    Raises:
        FindingsError: it does not, or the spec does not say what is expected.
    """
    if found == expected:
        return
    hint = f"write `digest: {found}`"
    if expected is None:
        message = f"what lies at {location.url} may change: the spec has to say which content is meant"
        raise FindingsError([finding_at(location.mark, "FL308", message, hint)])
    message = f"{location.url} holds {found}; the spec expects {expected}"
    hint = f"{hint} if the new content is meant, else put the expected content back"
    raise FindingsError([finding_at(location.mark, "FL307", message, hint)])
