"""A lock names the engines of an archive, and with them the archive, before anything is built."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.artifact_bucket import digest_of_bytes
from tests.support.engine_bucket import CONFIG, TENSORS, small_onnx
from tests.support.engine_bucket import SPEC as ENGINE_SPEC
from tests.support.fleet_folder import FleetFolder
from tests.support.s3_repositories import BUCKET, Repositories
from triton_fleet.builds.engines.artifacts import archive_digest
from triton_fleet.findings import FindingsError
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import open_project
from triton_fleet.repository.loading.models import ServingContainer
from triton_fleet.spec.lock import LockedArchive
from triton_fleet.store.lock import write_locks
from triton_fleet.store.promote.lock import promoted_endpoint
from triton_fleet.store.sources.folder import FolderSource
from triton_fleet.store.sources.source import measure

SPEC = ENGINE_SPEC.replace("NAME", "sentences").replace("MODE", "")


@pytest.fixture
def engine(folder: FleetFolder) -> FleetFolder:
    """An endpoint of one TensorRT model, whose engine is to be built."""
    folder.write("sentences/bert/config.pbtxt", CONFIG + TENSORS)
    onnx(folder).parent.mkdir()
    onnx(folder).write_bytes(small_onnx())
    folder.spec(base=SPEC)
    (folder.root / "locks/dev/sentences.lock.yaml").unlink()
    return folder


def onnx(folder: FleetFolder) -> Path:
    return folder.root / "onnx/sentences.onnx"


def locked_archive(
    folder: FleetFolder, environment: str = "dev", archive: str = "sentences"
) -> LockedArchive:
    write_locks(open_project(folder.root, environment))
    return load_lock(folder.root / f"locks/{environment}/sentences.lock.yaml").archives[archive]


def test_an_archive_is_named_by_its_repository_and_the_keys_of_its_engines(engine: FleetFolder) -> None:
    archive = locked_archive(engine)
    own = measure(
        FolderSource.of(engine.root / "sentences", ServingContainer(engine_models=frozenset(["bert"])))
    )
    assert (archive.repository, archive.size) == (own.digest, own.size)
    assert archive.engines["bert"].onnx == digest_of_bytes(small_onnx())
    assert archive.engines["bert"].size == len(small_onnx())
    assert archive.digest == archive_digest(own.digest, {"bert": archive.engines["bert"].key})
    assert engine.check() == []


def test_the_digest_depends_on_the_repository_and_each_key_and_not_on_their_order() -> None:
    keys = {"a": "sha256:1", "b": "sha256:2"}
    digests = {
        archive_digest("sha256:r", keys),
        archive_digest("sha256:s", keys),
        archive_digest("sha256:r", {**keys, "b": "sha256:3"}),
        archive_digest("sha256:r", {"a": "sha256:2", "b": "sha256:1"}),
    }
    assert len(digests) == 4
    assert archive_digest("sha256:r", dict(reversed(keys.items()))) in digests


@pytest.mark.parametrize(
    ("old", "new"), [("fp16", "fp32"), ("g5.xlarge", "g6.xlarge"), ("25.04", "24.09"), ("4x8", "2x8")]
)
def test_other_flags_another_gpu_or_image_is_another_engine(engine: FleetFolder, old: str, new: str) -> None:
    before = locked_archive(engine)
    engine.spec(base=SPEC.replace(old, new))
    assert "FL391" in {finding.code for finding in engine.check()}
    after = locked_archive(engine)
    assert before.repository == after.repository
    assert before.engines["bert"].key != after.engines["bert"].key
    assert before.digest != after.digest


def test_an_onnx_model_that_changed_is_named(engine: FleetFolder) -> None:
    locked_archive(engine)
    onnx(engine).write_bytes(small_onnx("other"))
    (finding,) = engine.check()
    assert (finding.code, finding.file) == ("FL306", onnx(engine))
    since = "since it was locked"
    assert finding.message == f"the ONNX model of 'bert' changed {since}"
    assert "fleet lock --env dev sentences" in finding.hint


@pytest.mark.parametrize("keys", ["", "    copies: 2\n"])
def test_an_engine_of_an_unknown_model_is_told_before_the_model_that_lacks_its_plan(
    engine: FleetFolder, keys: str
) -> None:
    mode = "mode: multi-model\n" if keys else ""
    engine.spec(
        base=mode + SPEC.replace("model: bert,", "model: bret,").replace("    engines", f"{keys}    engines")
    )
    with pytest.raises(FindingsError) as refusal:
        write_locks(open_project(engine.root, "dev"))
    [finding] = refusal.value.findings
    assert (finding.code, finding.hint) == ("FL293", "did you mean `bert`?")
    assert finding.message == "the repository has no model 'bret' for this engine"
    assert finding in engine.check()
    engine.write("sentences/bert/1/model.plan", "")
    assert [finding for finding in engine.check() if finding.code == "FL293"] == [finding]


def test_copies_share_an_engine_under_their_own_names(engine: FleetFolder) -> None:
    base = SPEC.replace("    engines", "    copies: 2\n    engines")
    engine.spec(base=base.replace("triton:", "mode: multi-model\ntriton:"))
    first, second = (locked_archive(engine, archive=f"sentences-{copy}") for copy in (0, 1))
    assert (list(first.engines), list(second.engines)) == (["bert_0"], ["bert_1"])
    assert first.engines["bert_0"] == second.engines["bert_1"]


@pytest.mark.parametrize("is_locked", [True, False])
def test_an_onnx_model_that_is_not_there_is_told_where_the_spec_names_it(
    engine: FleetFolder, is_locked: bool
) -> None:
    if is_locked:
        locked_archive(engine)
    onnx(engine).unlink()
    (finding,) = [finding for finding in engine.check() if finding.code == "FL370"]
    assert (finding.file, finding.line) == (engine.root / "model_specs/sentences.yaml", 8)
    with pytest.raises(FindingsError, match="FL370"):
        locked_archive(engine)


def test_what_is_no_onnx_model_or_keeps_its_weights_elsewhere_is_refused(engine: FleetFolder) -> None:
    onnx(engine).write_bytes(b"version https://git-lfs.github.com/spec/v1\n")
    (finding,) = [finding for finding in engine.check() if finding.code == "FL371"]
    assert "git lfs pull" in finding.message and finding.hint == ""
    with pytest.raises(FindingsError, match=r"FL371: .*git lfs pull"):
        locked_archive(engine)


def test_versions_among_which_the_plan_would_have_no_place_are_refused(engine: FleetFolder) -> None:
    engine.write("sentences/bert/1/notes.txt", "")
    engine.write("sentences/bert/2/notes.txt", "")
    with pytest.raises(FindingsError, match=r"FL372: model 'bert' has the versions 1, 2"):
        locked_archive(engine)


def test_an_onnx_model_in_s3_is_read_once_and_named_by_its_digest(
    engine: FleetFolder, empty_repositories: Repositories
) -> None:
    empty_repositories.put("bert.onnx", small_onnx())
    url, digest = f"s3://{BUCKET}/bert.onnx", digest_of_bytes(small_onnx())
    engine.spec(base=SPEC.replace("../onnx/sentences.onnx", f'"{url}"'))
    with pytest.raises(FindingsError, match=rf"FL308: (.|\n)*write `digest: {digest}`"):
        empty_repositories.lock()
    engine.spec(base=SPEC.replace("../onnx/sentences.onnx", f'"{url}", digest: "{digest}"'))
    empty_repositories.lock()
    empty_repositories.reads = 0
    empty_repositories.lock()
    assert empty_repositories.reads == 0
    assert engine.check() == []


def test_another_content_in_s3_is_refused(engine: FleetFolder, empty_repositories: Repositories) -> None:
    empty_repositories.put("bert.onnx", small_onnx("other"))
    url, digest = f"s3://{BUCKET}/bert.onnx", digest_of_bytes(small_onnx())
    engine.spec(base=SPEC.replace("../onnx/sentences.onnx", f'"{url}", digest: "{digest}"'))
    with pytest.raises(FindingsError, match=r"sentences.yaml:8:.*FL307: s3://.* has sha256"):
        empty_repositories.lock()


def test_an_engine_that_the_spec_no_longer_asks_for_is_told(engine: FleetFolder) -> None:
    locked_archive(engine)
    engine.spec(base=SPEC[: SPEC.index("    engines")])
    (finding,) = [finding for finding in engine.check() if finding.code == "FL391"]
    assert finding.message == "the lock has an engine of model 'bert' in 'sentences', and the spec has none"
    assert "fleet lock --env dev sentences" in finding.hint


class TestPromoting:
    @pytest.fixture(autouse=True)
    def two_environments(self, engine: FleetFolder) -> None:
        engine.environment(name="staging")
        engine.environment(name="prod")
        locked_archive(engine, "staging")

    def promoted_archive(self, folder: FleetFolder) -> LockedArchive:
        staging, prod = (open_project(folder.root, name) for name in ("staging", "prod"))
        return promoted_endpoint(staging, prod, "sentences").lock.archives["sentences"]

    def test_an_archive_with_engines_is_the_same_where_gpu_and_image_are(self, engine: FleetFolder) -> None:
        assert (
            self.promoted_archive(engine)
            == locked_archive(engine, "staging")
            == locked_archive(engine, "prod")
        )

    def test_an_engine_of_another_gpu_is_refused_with_both(self, engine: FleetFolder) -> None:
        engine.environment("overrides: {sentences: {instance: {type: ml.g6.xlarge}}}\n", name="prod")
        with pytest.raises(FindingsError) as caught:
            self.promoted_archive(engine)
        (finding,) = caught.value.findings
        assert finding.code == "FL336"
        assert "tested in staging with 'bert' for A10G in sagemaker-tritonserver:25.04-py3" in finding.message
        assert "prod has 'bert' for L4 in" in finding.message
