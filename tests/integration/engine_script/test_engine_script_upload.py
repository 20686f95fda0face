"""A plan is in the bucket whole or not at all, and the first one stays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from botocore.stub import ANY, Stubber

from engine_job import upload
from engine_job.store import store_engine
from engine_job.upload import upload_plan
from engine_request.bucket import Bucket, TakenError
from engine_request.files import file_digest
from engine_request.request import EngineRequest as ScriptRequest
from tests.support.embedded_keys import SESSION
from tests.support.embedded_s3 import BUCKET, FIRST, LAST
from tests.support.engine_builds import EngineStore

PART_LOCATION = {"Bucket": "b", "Key": "k", "UploadId": "u"}


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    file = tmp_path / "plan"
    file.write_bytes(b"plan")
    return file


@pytest.fixture
def s3() -> Any:
    make: Any = boto3.client
    return make("s3", region_name="us-east-1", **SESSION)


def begin(stub: Stubber) -> None:
    stub.add_response("create_multipart_upload", {"UploadId": "u"}, None)


def part(stub: Stubber) -> None:
    stub.add_response("upload_part", {"ETag": '"1"'}, {**PART_LOCATION, "PartNumber": 1, "Body": ANY})


def refuse_upload(stub: Stubber, status: int) -> None:
    begin(stub)
    part(stub)
    stub.add_client_error("complete_multipart_upload", "Code", http_status_code=status)
    stub.add_response("abort_multipart_upload", {}, PART_LOCATION)


def test_a_large_plan_goes_in_parts(
    store: EngineStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(upload, "PART_BYTES", len(FIRST))
    file = tmp_path / "large"
    file.write_bytes(FIRST + LAST)
    upload_plan(Bucket(store.s3, BUCKET), "large.plan", file, file_digest(file))
    assert store.body("large.plan") == FIRST + LAST
    with pytest.raises(TakenError):
        upload_plan(Bucket(store.s3, BUCKET), "large.plan", file, file_digest(file))
    assert "Uploads" not in store.s3.list_multipart_uploads(Bucket=BUCKET)


def test_a_conflict_is_tried_again(s3: Any, plan: Path) -> None:
    with Stubber(s3) as stub:
        refuse_upload(stub, 409)
        begin(stub)
        part(stub)
        stub.add_response(
            "complete_multipart_upload", {}, {**PART_LOCATION, "MultipartUpload": ANY, "IfNoneMatch": "*"}
        )
        upload_plan(Bucket(s3, "b"), "k", plan, "sha256:0a")
        stub.assert_no_pending_responses()


@pytest.mark.parametrize("statuses", [[412], [404], [409, 409, 409]])
def test_a_plan_that_is_there_first_stays(s3: Any, plan: Path, statuses: list[int]) -> None:
    with Stubber(s3) as stub:
        for status in statuses:
            refuse_upload(stub, status)
        with pytest.raises(TakenError):
            upload_plan(Bucket(s3, "b"), "k", plan, "sha256:0a")
        stub.assert_no_pending_responses()


def test_an_upload_that_breaks_off_is_forgotten(s3: Any, plan: Path) -> None:
    with Stubber(s3) as stub:
        begin(stub)
        stub.add_client_error("upload_part", "AccessDenied", http_status_code=403)
        stub.add_response("abort_multipart_upload", {}, PART_LOCATION)
        with pytest.raises(ClientError, match="AccessDenied"):
            upload_plan(Bucket(s3, "b"), "k", plan, "sha256:0a")
        stub.assert_no_pending_responses()


def test_that_it_cannot_be_forgotten_does_not_hide_why(s3: Any, plan: Path) -> None:
    with Stubber(s3) as stub:
        begin(stub)
        stub.add_client_error("upload_part", "SlowDown", http_status_code=503)
        stub.add_client_error("abort_multipart_upload", "AccessDenied", http_status_code=403)
        with pytest.raises(ClientError, match="SlowDown"):
            upload_plan(Bucket(s3, "b"), "k", plan, "sha256:0a")


def test_a_build_that_another_one_overtakes_ends_with_the_other_ones_plan(store: EngineStore) -> None:
    request = store.request()
    assert store.compile(request) == 0
    first = list[tuple[bytes, bytes]]()

    class Overtaken(Bucket):
        """Another build goes all its way before this one writes its manifest."""

        def write(self, key: str, body: bytes, *, only_if_new: bool = False) -> None:
            if not first:
                store.store(request, by="the other one")
                first.append((store.body(request.plan), store.body(request.manifest)))
            super().write(key, body, only_if_new=only_if_new)

    store_engine(
        ScriptRequest.of(request.json().encode()), Overtaken(store.s3, BUCKET), store.outputs, by="this"
    )
    assert first == [(store.body(request.plan), store.body(request.manifest))]
    assert store.json(request.manifest)["by"] == "the other one"
