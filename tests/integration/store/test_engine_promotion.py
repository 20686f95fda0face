"""An archive with engines is promoted as it was tested: nothing is built for it again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.codebuild_stand_in import PLAN_BYTES
from tests.support.engine_bucket import CONFIG, SPEC, TENSORS, small_onnx
from tests.support.promotion import Promotion
from tests.support.silent_progress import SilentProgress
from triton_fleet.builds.engines.artifacts import MANIFEST, PLAN, built_key
from triton_fleet.endpoint.resolve import resolve_project
from triton_fleet.findings import FindingsError
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import open_project
from triton_fleet.store.builds.codebuild import BuildClients
from triton_fleet.store.content_store import contents_key, store_key
from triton_fleet.store.lock import write_locks
from triton_fleet.store.publish.publish import publish


@pytest.fixture
def tested_promotion(promotion: Promotion) -> Promotion:
    """An endpoint whose engine was in the bucket already; the ONNX model is gone by now."""
    folder = promotion.folder
    folder.write("sentences/bert/config.pbtxt", CONFIG + TENSORS)
    onnx = folder.root / "onnx/sentences.onnx"
    onnx.parent.mkdir()
    onnx.write_bytes(small_onnx())
    folder.spec(base=SPEC.replace("NAME", "sentences").replace("MODE", ""))
    write_locks(open_project(folder.root, "staging"))
    lock = load_lock(folder.root / "locks/staging/sentences.lock.yaml")
    key = lock.archives["sentences"].engines["bert"].key
    for name, body in ((PLAN, PLAN_BYTES), (MANIFEST, b'{"plan": {"digest": "any", "size": 4}}')):
        bucket = promotion.bucket("staging")
        promotion.s3("staging").put_object(Bucket=bucket, Key=built_key(key, name), Body=body)
    promotion.serve(promotion.publish())
    onnx.unlink()
    return promotion


def test_the_archive_arrives_with_what_is_written_of_it_and_needs_no_engine(
    tested_promotion: Promotion,
) -> None:
    result = tested_promotion.promote()
    lock = load_lock(Path(tested_promotion.folder.root / "locks/prod/sentences.lock.yaml"))
    digest = lock.archives["sentences"].digest
    assert (result.copies, lock.promoted_from) == (1, "staging")
    assert sorted(tested_promotion.keys("prod", "archives/")) == sorted(
        [store_key(digest), contents_key(digest)]
    )


def test_where_the_target_has_another_gpu_nothing_is_copied(tested_promotion: Promotion) -> None:
    file = tested_promotion.folder.root / "environments/prod.yaml"
    file.write_text(file.read_text() + "overrides: {sentences: {instance: {type: ml.g6.xlarge}}}\n")
    with pytest.raises(FindingsError, match=r"FL336: .*'bert' for A10G"):
        tested_promotion.promote()
    assert tested_promotion.keys("prod") == []


@pytest.mark.parametrize("there_content", [b"", small_onnx("other")], ids=["gone", "changed"])
def test_where_the_store_has_lost_it_and_the_onnx_model_is_another_it_is_to_be_promoted_again(
    tested_promotion: Promotion, there_content: bytes
) -> None:
    tested_promotion.promote()
    for key in tested_promotion.keys("prod", "archives/"):
        tested_promotion.s3("prod").delete_object(Bucket=tested_promotion.bucket("prod"), Key=key)
    if there_content:
        (tested_promotion.folder.root / "onnx/sentences.onnx").write_bytes(there_content)
    s3, project = tested_promotion.s3("prod"), open_project(tested_promotion.folder.root, "prod")
    placeholder: Any = None
    clients = BuildClients(s3=s3, ssm=placeholder, codebuild=placeholder, logs=placeholder)
    with pytest.raises(FindingsError) as caught:
        publish(s3, project, resolve_project(project).endpoints, SilentProgress(), lambda: clients)
    (finding,) = caught.value.findings
    assert finding.code == "FL373"
    assert "fleet promote --from staging --to prod sentences" in finding.hint
