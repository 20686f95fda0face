"""The functions that assemble model data, as CloudFormation calls them: S3 is the embedded one."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError

from model_assembly import copies
from model_assembly.errors import AssemblyError
from model_assembly.request import Place
from tests.support.artifact_bucket import BUCKET
from tests.support.codebuild_stand_in import PLAN_BYTES, StandInCodeBuild, refusal
from tests.support.model_assembly_app import ASSETS, CONFIG, ROLE, App, assembly_s3
from triton_fleet.builds.engines.artifacts import REQUEST, built_key
from triton_fleet.builds.engines.request import EngineRequest


@pytest.fixture(scope="module")
def s3() -> Iterator[Any]:
    with assembly_s3() as s3:
        yield s3


@pytest.fixture
def app(s3: Any) -> App:
    return App(s3, StandInCodeBuild(s3))


def test_the_engine_is_built_and_joins_the_files_of_the_repository(app: App) -> None:
    answer = app.deploy()
    assert answer["Url"] == f"s3://{BUCKET}/{app.prefix}"
    assert app.model_data() == {**app.files, "bert/1/model.plan": PLAN_BYTES}
    assert json.loads(app.body(f"{app.prefix[:-1]}.files")) == {
        path: len(body) for path, body in app.model_data().items()
    }


def test_the_build_finds_its_request_its_onnx_model_and_its_script(app: App) -> None:
    app.deploy()
    request = EngineRequest.of(app.body(built_key(app.request.key, REQUEST)))
    assert request == replace(app.request, job=replace(app.request.job, role=ROLE))
    digest = f"sha256:{hashlib.sha256(app.body(request.onnx)).hexdigest()}"
    assert digest == request.onnx_digest
    assert app.body(request.script) == b"script"
    (start,) = app.codebuild.starts
    assert start["sourceLocationOverride"] == f"{BUCKET}/{request.script}"


def test_another_deploy_builds_nothing_and_copies_nothing(app: App) -> None:
    app.deploy()
    app.put("repository.tar", b"not read again")
    assert "complete already" in app.deploy("Update")["Summary"]
    assert len(app.codebuild.starts) == 1


def test_other_files_get_the_engine_that_exists(app: App) -> None:
    app.deploy()
    second_app = replace(app, files={"bert/config.pbtxt": CONFIG + b"# other"}, number=-1 - app.number)
    second_app.request = app.request
    second_app.deploy()
    assert second_app.model_data()["bert/1/model.plan"] == PLAN_BYTES
    assert len(app.codebuild.starts) == 1


def test_a_deletion_keeps_the_engine_and_the_model_data(app: App) -> None:
    app.deploy()
    before = app.model_data()
    event = app.begin("Delete")
    assert event["PhysicalResourceId"] == "host/1/Assembly"
    assert event["Data"]["Summary"] == f"Kept s3://{BUCKET}/{app.prefix} and its engines."
    assert app.look(event) == {"IsComplete": True}
    assert app.model_data() == before


class TestFailures:
    def test_the_reason_is_that_of_the_build_script(self, app: App) -> None:
        app.codebuild.on_look = lambda id: app.codebuild.fail(
            id,
            exit_code=15,
            problem="unsupported operator",
            message="TensorRT has no TRTBatchedNMS",
            remedy="export the ONNX model without it",
            by=id,
        )
        with pytest.raises(AssemblyError) as error:
            app.deploy()
        assert str(error.value) == (
            "The engine of model 'adder' was not built: unsupported operator: TensorRT has no TRTBatchedNMS."
            " Export the ONNX model without it. Its log: engines:1. Remove the cause, and deploy again."
        )
        assert app.model_data() == {}

    def test_a_long_reason_leaves_room_for_the_remedy(self, app: App) -> None:
        app.codebuild.on_look = lambda id: app.codebuild.fail(
            id, exit_code=18, problem="failed", message="x" * 5000, by=id
        )
        with pytest.raises(AssemblyError) as error:
            app.deploy()
        assert len(str(error.value)) <= 1500
        assert str(error.value).endswith("deploy again.")

    def test_a_build_without_a_reason_has_the_one_of_codebuild(self, app: App) -> None:
        app.codebuild.reason, app.codebuild.on_look = "no machine", app.codebuild.fail
        with pytest.raises(AssemblyError, match=r"ended with the status FAILED: no machine\."):
            app.deploy()

    def test_the_failure_of_another_build_is_not_its_reason(self, app: App) -> None:
        app.codebuild.on_look = lambda id: app.codebuild.fail(
            id, exit_code=17, problem="time-out", message="of an earlier one", by="engines:another"
        )
        with pytest.raises(AssemblyError, match="ended with the status FAILED"):
            app.deploy()

    def test_the_next_deploy_builds_again(self, app: App) -> None:
        app.codebuild.on_look = app.codebuild.fail
        with pytest.raises(AssemblyError):
            app.deploy()
        app.codebuild.on_look = None
        app.times = {"Start": app.begin()["Start"]}  # by its own clock, after the end of the first build
        app.deploy()
        first, second = app.codebuild.starts
        assert first["idempotencyToken"] != second["idempotencyToken"]
        assert app.model_data()["bert/1/model.plan"] == PLAN_BYTES

    def test_a_missing_permission_fails_once_iam_must_have_seen_the_policies(self, app: App) -> None:
        app.codebuild.refusals = [refusal("AccessDeniedException"), refusal("AccessDeniedException")]
        event = app.begin()
        assert app.look(event) == {"IsComplete": False}
        with pytest.raises(
            AssemblyError, match=r"AccessDeniedException.* Remove the cause, and deploy again"
        ):
            app.look({**event, "Start": event["Start"] - 600})

    def test_an_account_without_builds_is_told_where_to_ask(self, app: App) -> None:
        limit = "Cannot have more than 0 builds in queue for the account"
        app.codebuild.refusals = [refusal("AccountLimitExceededException", limit)]
        with pytest.raises(AssemblyError, match=r"more than 0 builds.* Request a higher quota"):
            app.deploy()


class TestWaits:
    def test_a_full_queue_is_asked_again(self, app: App) -> None:
        limit = "Cannot have more than 1 builds in queue for the account"
        app.codebuild.refusals = [refusal("AccountLimitExceededException", limit)]
        app.deploy()
        assert len(app.codebuild.starts) == 1

    def test_a_build_that_takes_too_long_fails_the_deploy_and_goes_on(self, app: App) -> None:
        app.codebuild.on_look = lambda id: None
        event = app.begin()
        assert app.look(event) == {"IsComplete": False}
        with pytest.raises(AssemblyError) as error:
            app.look({**event, "Deadline": 0})
        assert "after 48 minutes the engine of model 'adder' is being built (build)" in str(error.value)
        assert str(error.value).endswith("deploy again when it has ended, which builds nothing twice.")
        assert list(app.codebuild.status.values()) == ["IN_PROGRESS"]

    def test_the_next_deploy_follows_a_build_that_is_under_way(self, app: App) -> None:
        app.codebuild.on_look = lambda id: None
        app.look(app.begin())
        app.codebuild.on_look = None
        app.deploy()
        assert len(app.codebuild.starts) == 1

    def test_an_answer_that_was_lost_starts_no_second_build(self, app: App) -> None:
        app.look(app.begin())
        (first,) = app.codebuild.starts
        app.codebuild.status.clear()
        app.look(app.begin())
        assert app.codebuild.starts[1] == first, "CodeBuild answers one request with one build"

    def test_what_a_look_has_no_time_for_the_next_one_does(self, app: App) -> None:
        app.codebuild.leave(built_key(app.request.key, ""))
        event = app.begin()
        assert app.look(event, milliseconds=1000) == {"IsComplete": False}
        assert app.look(event)["IsComplete"]
        assert app.model_data() == {**app.files, "bert/1/model.plan": PLAN_BYTES}


def test_a_large_file_is_copied_on_the_server(s3: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "PART_BYTES", 5 << 20)
    weights = bytes(range(256)) * (9 << 12)  # 9 MiB
    app = App(s3, StandInCodeBuild(s3), files={"bert/1/weights.bin": weights, "bert/config.pbtxt": CONFIG})
    app.codebuild.leave(built_key(app.request.key, ""))
    reads: list[str] = []
    s3.meta.events.register(
        "before-parameter-build.s3.GetObject",
        lambda params, **_: reads.append(params.get("Range", "")),
        "reads",
    )
    try:
        app.deploy()
    finally:
        s3.meta.events.unregister("before-parameter-build.s3.GetObject", unique_id="reads")
    assert app.model_data()["bert/1/weights.bin"] == weights
    sizes = [int(end) - int(start) for start, end in (text[6:].split("-") for text in reads if text)]
    assert sum(sizes) < 1 << 20, "the headers alone are read"


def test_a_copy_that_fails_leaves_no_upload(s3: Any) -> None:
    app = App(s3, StandInCodeBuild(s3), files={"bert/1/weights.bin": bytes(9 << 20)})
    app.codebuild.leave(built_key(app.request.key, ""))

    def refuse(**_: Any) -> None:
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "UploadPartCopy")

    s3.meta.events.register("before-parameter-build.s3.UploadPartCopy", refuse, "refusal")
    try:
        with pytest.raises(ClientError):
            copies.copy_range(
                s3,
                copies.Range(Place(ASSETS, f"{app.number}/repository.tar"), 512, 9 << 20),
                Place(BUCKET, "refused"),
            )
    finally:
        s3.meta.events.unregister("before-parameter-build.s3.UploadPartCopy", unique_id="refusal")
    assert s3.list_multipart_uploads(Bucket=BUCKET).get("Uploads", []) == []
