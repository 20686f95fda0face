"""Faults of S3 while a repository is read from it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import boto3
import botocore.session
import pytest
from botocore.exceptions import ResponseStreamingError

from tests.support.fleet_folder import FleetFolder
from tests.support.s3_repositories import BUCKET, FILES, Repositories, digest, pack_files
from triton_fleet.findings import CannotRunError

if TYPE_CHECKING:
    from mypy_boto3_s3.client import S3Client


def answer_event(s3: S3Client, event: str, answer: Callable[..., Any]) -> None:
    s3.meta.events.register_first(event, answer, unique_id="injected")


@pytest.fixture
def faulty_repositories(empty_repositories: Repositories) -> Iterator[Repositories]:
    yield empty_repositories
    for event in ("before-call.s3.GetObject", "after-call.s3.GetObject", "request-created.s3.GetObject"):
        empty_repositories.s3.meta.events.unregister(event, unique_id="injected")


@pytest.mark.parametrize("form", ["team/", "team/embed.tar.gz"])
def test_an_object_that_is_replaced_while_it_is_read_is_refused_by_name(
    faulty_repositories: Repositories, form: str
) -> None:
    """It is replaced when the first bytes of it, or of the file before it, have been read."""
    repositories, stream = faulty_repositories, pack_files(FILES)
    repositories.prefix()
    repositories.archive(stream) if form != "team/" else None
    repositories.spec(form, digest(stream))
    if form == "team/":
        repositories.s3.delete_object(Bucket=BUCKET, Key="team/embed.tar.gz")
    text = "team/NOTES" if form == "team/" else "team/embed.tar.gz"

    def replace(parsed: Any, **_: object) -> None:
        if repositories.reads == 1:
            repositories.put("team/embed/1/model.py" if form == "team/" else text, b"x = 2\n")
            if form != "team/":
                parsed["Body"] = BreakingBody(parsed["Body"].read(10))

    answer_event(repositories.s3, "after-call.s3.GetObject", replace)
    finding = repositories.refusal()
    changed_text = "team/embed/1/model.py" if form == "team/" else text
    assert (finding.code, finding.message) == (
        "FL305",
        f"s3://{BUCKET}/{changed_text} changed while it was read",
    )


class BreakingBody:
    """The first bytes of an object; then the connection is gone."""

    def __init__(self, first: bytes) -> None:
        self._first = first

    def iter_chunks(self, size: int) -> Iterator[bytes]:
        if self._first:
            yield self._first
        raise ResponseStreamingError(error="connection reset by peer")

    def close(self) -> None:
        """It is closed already."""


def test_a_connection_that_breaks_goes_on_where_it_was(faulty_repositories: Repositories) -> None:
    repositories, stream = faulty_repositories, pack_files(FILES)
    repositories.archive(stream)
    repositories.spec("team/embed.tar.gz", digest(stream))

    def break_off(parsed: Any, **_: object) -> None:
        if repositories.reads < 8:
            parsed["Body"] = BreakingBody(parsed["Body"].read(40))

    answer_event(repositories.s3, "after-call.s3.GetObject", break_off)
    assert len(repositories.lock()) == 1
    assert repositories.reads == 8


def test_a_connection_that_only_breaks_is_given_up(faulty_repositories: Repositories) -> None:
    repositories, stream = faulty_repositories, pack_files(FILES)
    repositories.archive(stream)
    repositories.spec("team/embed.tar.gz", digest(stream))

    def break_off(parsed: Any, **_: object) -> None:
        parsed["Body"] = BreakingBody(b"")

    answer_event(repositories.s3, "after-call.s3.GetObject", break_off)
    with pytest.raises(CannotRunError, match=r"sentences.yaml:5: s3://.*embed.tar.gz cannot be read"):
        repositories.lock()
    assert repositories.reads == 5


def test_denied_access_ends_the_command_with_the_specs_line(faulty_repositories: Repositories) -> None:
    repositories = faulty_repositories
    repositories.spec("team/embed.tar.gz", f"sha256:{'0' * 64}")

    def deny(**_: object) -> tuple[Any, Any]:
        metadata = {"HTTPStatusCode": 403}
        error = {"Error": {"Code": "AccessDenied", "Message": "no"}, "ResponseMetadata": metadata}
        return type("Raw", (), {"status_code": 403})(), error

    answer_event(repositories.s3, "before-call.s3.GetObject", deny)
    with pytest.raises(CannotRunError, match=r"sentences.yaml:5: s3://.* S3 refuses: .*AccessDenied"):
        repositories.lock()


def test_without_credentials_the_url_and_the_line_are_told(
    repositories_s3: S3Client, folder: FleetFolder
) -> None:
    repositories = Repositories(repositories_s3, folder)
    repositories.spec("team/embed.tar.gz", f"sha256:{'0' * 64}")
    plain = botocore.session.Session({"profile": (None, None, None, None)})
    plain.register_component(
        "credential_provider", type("Nobody", (), {"load_credentials": lambda self: None})()
    )
    s3: S3Client = boto3.Session(botocore_session=plain, region_name="us-east-1").client("s3")
    with pytest.raises(CannotRunError, match=r"sentences.yaml:5: s3://.*embed.tar.gz cannot be read: Unable"):
        repositories.lock(lambda: s3)
