"""An engine is built once for all that need it, and lies in the archives that are packed with it."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import randbytes

import pytest

from tests.support.artifact_bucket import BUCKET, digest_of_bytes
from tests.support.codebuild_stand_in import PLAN_BYTES, StandInCodeBuild
from tests.support.engine_bucket import PROJECT, ROLE, EngineBucket, small_onnx
from tests.support.silent_progress import SilentProgress
from triton_fleet.builds.engines.artifacts import MANIFEST, REQUEST, built_key
from triton_fleet.builds.engines.artifacts import PLAN as PLAN_FILE
from triton_fleet.check.repositories import RepositoryTarget, named_findings
from triton_fleet.findings import CannotRunError, FindingsError
from triton_fleet.repository.plan import plan_version
from triton_fleet.store.content_store import contents_key, copy_object
from triton_fleet.store.publish import publish as publish_copies
from triton_fleet.store.publish.publish import PublishResult

PLAN = "bert/1/model.plan"


def test_the_plan_is_built_once_and_packed_where_triton_looks_for_it(
    engine_bucket: EngineBucket, tmp_path: Path
) -> None:
    engine_bucket.endpoint()
    result = engine_bucket.publish()
    assert (result.engines, result.uploads, result.copies) == (1, 1, 1)
    assert list(engine_bucket.packed_files()) == ["bert/config.pbtxt", PLAN]
    plan = engine_bucket.packed_files()[PLAN]
    assert plan_version(plan) == "10.9.0.34"
    assert plan.endswith(small_onnx())

    (endpoint,) = engine_bucket.artifacts.endpoints
    archive = tmp_path / "sentences.tar.gz"
    archive.write_bytes(engine_bucket.artifacts.body(endpoint.model_data))
    assert named_findings([archive], RepositoryTarget(release="25.04", instance="ml.g5.xlarge")) == []

    contents = json.loads(engine_bucket.artifacts.body(contents_key(endpoint.archives[0].digest)))
    assert contents["tar"] == digest_of_bytes(gzip.decompress(archive.read_bytes()))
    assert contents["engines"] == {
        "bert": {"key": engine_bucket.key(), "plan": {"digest": digest_of_bytes(plan), "size": len(plan)}}
    }

    assert len(engine_bucket.builds) == 1
    assert engine_bucket.publish() == PublishResult(present=1)
    assert len(engine_bucket.builds) == 1
    assert engine_bucket.artifacts.object_keys("engines/leases/") == []


def test_without_a_role_for_jobs_it_is_said_what_makes_it(engine_bucket: EngineBucket) -> None:
    engine_bucket.clients.ssm.delete_parameter(Name="/triton-fleet/dev/engine-job-role")
    engine_bucket.endpoint()
    with pytest.raises(CannotRunError, match="the role for jobs") as caught:
        engine_bucket.publish()
    assert "fleet deploy --env dev --foundation" in caught.value.remedy
    assert engine_bucket.artifacts.object_keys("engines/leases/") == []


@pytest.fixture
def quick(engine_bucket: EngineBucket) -> EngineBucket:
    """Its builds leave an engine as soon as they are looked at."""
    stand_in = StandInCodeBuild(engine_bucket.artifacts.s3)
    engine_bucket.clients = replace(engine_bucket.clients, codebuild=stand_in, logs=stand_in)
    return engine_bucket


def test_a_job_of_sagemaker_on_the_endpoints_instance_type_builds(quick: EngineBucket) -> None:
    quick.endpoint()
    quick.respell("ml.g5.xlarge", "ml.g4dn.xlarge")
    quick.artifacts.lock()
    assert quick.publish().engines == 1
    (start,) = quick.clients.codebuild.starts
    assert start["projectName"] == "triton-fleet-dev-engines-job"
    assert "imageOverride" not in start
    request = json.loads(quick.artifacts.body(built_key(quick.key(), REQUEST)))
    assert (request["compute_capability"], request["least_driver"]) == ("7.5", "525")
    job = request["job"]
    assert (job["kind"], job["instance_type"], job["role"]) == ("processing", "ml.g4dn.xlarge", ROLE)


def test_a_request_names_the_releases_image_and_the_arguments(quick: EngineBucket) -> None:
    quick.endpoint()
    quick.publish()
    (start,) = quick.clients.codebuild.starts
    (endpoint,) = quick.artifacts.endpoints
    assert start["projectName"] == PROJECT
    request = json.loads(quick.artifacts.body(built_key(quick.key(), REQUEST)))
    assert request["image"] == endpoint.image.uri
    assert "--fp16" in request["arguments"]


def test_endpoints_that_need_the_same_engine_share_one_build(quick: EngineBucket) -> None:
    quick.endpoint("first")
    quick.endpoint("second")
    result = quick.publish()
    assert (result.engines, result.copies) == (1, 2)
    assert quick.packed_files("first") == quick.packed_files("second")


def test_another_archive_with_an_engine_that_is_there_needs_no_build(quick: EngineBucket) -> None:
    quick.endpoint()
    quick.publish()
    quick.artifacts.folder.write("sentences/bert/labels.txt", "one\n")
    quick.artifacts.lock()
    result = quick.publish()
    assert (result.engines, result.uploads) == (0, 1)
    assert list(quick.packed_files()) == ["bert/config.pbtxt", "bert/labels.txt", PLAN]


def test_what_is_said_to_be_uploaded_includes_the_plans(quick: EngineBucket) -> None:
    sizes: list[int] = []

    class Sizes(SilentProgress):
        def uploads(self, count: int, size: int, what: str = "archive") -> AbstractContextManager[None]:
            sizes.append(size)
            return super().uploads(count, size, what)

        def archive(self, name: str, size: int) -> AbstractContextManager[Callable[[int], None]]:
            sizes.append(size)
            return super().archive(name, size)

    quick.endpoint()
    result = quick.publish(Sizes())
    whole = quick.artifacts.endpoints[0].archives[0].size + len(PLAN_BYTES)
    assert (sizes, result.bytes) == ([whole, whole], whole)


def test_copies_have_one_engine_each_under_its_own_name(quick: EngineBucket) -> None:
    quick.endpoint(mode="mode: multi-model\n", keys="    copies: 2\n")
    result = quick.publish()
    assert (result.engines, result.uploads) == (1, 2)
    (endpoint,) = quick.artifacts.endpoints
    names = [sorted(quick.files(archive.key)) for archive in endpoint.archives]
    assert names == [[f"bert_{copy}/1/model.plan", f"bert_{copy}/config.pbtxt"] for copy in (0, 1)]


def test_an_archive_is_copied_by_parts_where_its_plan_makes_it_too_large_for_one_request(
    quick: EngineBucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick.endpoint()
    size = quick.artifacts.endpoints[0].archives[0].size
    quick.artifacts.put(built_key(quick.key(), PLAN_FILE), randbytes(2 * size))
    quick.artifacts.put(built_key(quick.key(), MANIFEST), b'{"plan": {}}')
    monkeypatch.setattr(publish_copies, "copy_object", partial(copy_object, copied_whole=size))
    quick.artifacts.requests.clear()
    quick.publish()
    assert "UploadPartCopy" in quick.artifacts.requests


def test_without_compression_the_plan_is_a_file_beside_the_others(quick: EngineBucket) -> None:
    quick.endpoint(keys="    compression: none\n")
    quick.publish()
    (endpoint,) = quick.artifacts.endpoints
    lines = quick.artifacts.object_keys(endpoint.model_data)
    assert [key.removeprefix(endpoint.model_data) for key in lines] == [PLAN, "bert/config.pbtxt"]


def test_an_onnx_model_in_s3_is_copied_on_the_server(quick: EngineBucket) -> None:
    quick.endpoint()
    url, digest = f"s3://{BUCKET}/uploads/sentences/bert.onnx", digest_of_bytes(small_onnx())
    quick.artifacts.put("uploads/sentences/bert.onnx", small_onnx())
    quick.respell("onnx: ../onnx/sentences.onnx", f'onnx: "{url}", digest: "{digest}"')
    quick.artifacts.lock(lambda: quick.artifacts.s3)
    assert quick.publish().engines == 1
    assert quick.packed_files()[PLAN].startswith(PLAN_BYTES)


def test_another_content_in_s3_than_was_locked_is_refused_and_not_kept(quick: EngineBucket) -> None:
    quick.endpoint()
    url, digest = f"s3://{BUCKET}/uploads/sentences/bert.onnx", digest_of_bytes(small_onnx())
    quick.artifacts.put("uploads/sentences/bert.onnx", small_onnx())
    quick.respell("onnx: ../onnx/sentences.onnx", f'onnx: "{url}", digest: "{digest}"')
    quick.artifacts.lock(lambda: quick.artifacts.s3)
    quick.artifacts.put("uploads/sentences/bert.onnx", small_onnx("other"))
    with pytest.raises(FindingsError, match=r"FL847: .* has sha256:\w+; the spec expects"):
        quick.publish()
    assert (quick.artifacts.object_keys("engines/onnx/"), quick.clients.codebuild.starts) == ([], [])


def test_an_onnx_file_that_changed_since_it_was_locked_is_refused(quick: EngineBucket) -> None:
    quick.endpoint()
    (quick.root / "onnx/sentences.onnx").write_bytes(small_onnx("other"))
    with pytest.raises(FindingsError, match=r"sentences.yaml:8:9: error FL847: .*'bert' here has"):
        quick.publish()
    assert (quick.artifacts.object_keys("engines/onnx/"), quick.clients.codebuild.starts) == ([], [])


def test_a_repository_that_changed_since_it_was_locked_is_refused(quick: EngineBucket) -> None:
    quick.endpoint()
    quick.artifacts.folder.write("sentences/bert/labels.txt", "one\n")
    with pytest.raises(FindingsError, match="FL847: .* the repository here has"):
        quick.publish()
    assert quick.artifacts.object_keys("archives/") == []
