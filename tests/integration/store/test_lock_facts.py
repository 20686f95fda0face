"""A lock says what is known of each model, the same wherever the repository lies, and is read again as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.support.fleet_folder import SPEC, FleetFolder
from tests.support.s3_repositories import Repositories, digest, on_disk, pack_files
from triton_fleet.check.lock_drift import stale_findings
from triton_fleet.findings import FindingsError
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import open_project
from triton_fleet.repository.model_config import MAX_BYTES
from triton_fleet.spec.lock import InstanceGroup, LockedArchive, LockedModel
from triton_fleet.store.lock import HEADER, lock_text, write_locks
from triton_fleet.store.lock_measurement import measured_lock
from triton_fleet.store.sources.spec_sources import SpecRepositories

FILES = {
    "bert/config.pbtxt": b'name: "bert"\nplatform: "tensorrt_plan"\nmax_batch_size: 8\n'
    b"input { data_type: TYPE_INT32 dims: 128 }\ninstance_group { kind: KIND_GPU gpus: [ 0, 1 ] }\n"
    b'cc_model_filenames { key: "8.6" value: "a10g.plan" }\n',
    "bert/1/a10g.plan": b"ftrt" + bytes(20) + bytes([10, 9, 0, 34]) + bytes(972),
    "chain/config.pbtxt": b'platform: "ensemble"\nensemble_scheduling { step { model_name: "bert" } }\n',
    "chain/1/.gitkeep": b"",
    "chain/1/README": b"an ensemble\n",
}
BERT = LockedModel(
    backend="tensorrt",
    max_batch_size=8,
    instances=(InstanceGroup(kind="KIND_GPU", gpus=(0, 1)),),
    size=1000,
    item_bytes=512,
    plans={"1/a10g.plan": "10.9.0.34"},
    by_compute_capability={"8.6": "a10g.plan"},
)
CHAIN = LockedModel(backend="ensemble", size=12, steps=("bert",))
SHOWN_MODELS = {
    "bert": {
        "backend": "tensorrt",
        "max_batch_size": 8,
        "instances": [{"kind": "KIND_GPU", "gpus": [0, 1]}],
        "size": 1000,
        "item_bytes": 512,
        "plans": {"1/a10g.plan": "10.9.0.34"},
        "by_compute_capability": {"8.6": "a10g.plan"},
    },
    "chain": {"backend": "ensemble", "size": 12, "steps": ["bert"]},
}


@pytest.fixture
def repository(folder: FleetFolder) -> Path:
    """The model repository that the folder's spec points at."""
    on_disk(FILES, folder.root / "repository")
    return folder.root / "repository"


def locked_archive(folder: FleetFolder, archive: str = "sentences") -> LockedArchive:
    """Facts of an archive in the lock that is written now."""
    write_locks(open_project(folder.root, "dev"))
    return load_lock(folder.root / "locks/dev/sentences.lock.yaml").archives[archive]


def names_alone(folder: FleetFolder) -> Path:
    """The lock as it is, with its models as locks once had them."""
    file = folder.root / "locks/dev/sentences.lock.yaml"
    document = yaml.safe_load(file.read_text())
    for archive in document["archives"].values():
        archive["models"] = list(archive["models"])
    file.write_text(HEADER + yaml.safe_dump(document, sort_keys=False))
    return file


def test_the_lock_of_a_folder_holds_the_facts_of_its_models(folder: FleetFolder, repository: Path) -> None:
    assert locked_archive(folder).models == {"bert": BERT, "chain": CHAIN}


def test_the_lock_is_written_without_what_is_nothing_special(folder: FleetFolder, repository: Path) -> None:
    locked_archive(folder)
    text = (folder.root / "locks/dev/sentences.lock.yaml").read_text()
    assert yaml.safe_load(text)["archives"]["sentences"]["models"] == SHOWN_MODELS


def test_a_lock_is_read_as_it_was_written(folder: FleetFolder, repository: Path) -> None:
    (repository / "chain/config.pbtxt").write_text('platform: "1e3: \\u0085\\000ü #\\n"')
    project = open_project(folder.root, "dev")
    (written_lock,) = write_locks(project)
    lock = measured_lock(SpecRepositories(project.load("sentences")), project.environment)
    assert lock.archives["sentences"].models["chain"].platform == "1e3: \x85\0ü #\n"
    assert load_lock(written_lock) == lock
    assert lock_text(load_lock(written_lock)) == written_lock.read_text()


def test_each_copy_has_the_facts_of_its_own_names(folder: FleetFolder, repository: Path) -> None:
    folder.spec(base=SPEC.replace("../repository", "../repository, copies: 2") + "mode: multi-model\n")
    chain = CHAIN.model_copy(update={"steps": ("bert_1",)})
    assert locked_archive(folder, "sentences-1").models == {"bert_1": BERT, "chain_1": chain}


@pytest.mark.parametrize("form", ["team/", "team/embed.tar.gz"])
def test_the_facts_of_a_repository_in_s3_are_those_of_the_same_folder(
    empty_repositories: Repositories, tmp_path: Path, form: str
) -> None:
    on_disk(FILES, tmp_path / "r")
    files = {path: content for path, content in FILES.items() if not path.endswith(".gitkeep")}
    empty_repositories.prefix(FILES) if form == "team/" else empty_repositories.archive(pack_files(files))
    empty_repositories.spec(form, digest(pack_files(FILES)))
    (lock,) = empty_repositories.lock()
    assert load_lock(lock).archives["sentences"].models == {"bert": BERT, "chain": CHAIN}
    assert empty_repositories.reads == (len(files) if form == "team/" else 1)


@pytest.mark.parametrize("form", ["team/", "team/embed.tar.gz"])
def test_a_lock_that_knows_nothing_of_models_in_s3_is_written_anew(
    empty_repositories: Repositories, form: str
) -> None:
    empty_repositories.prefix(FILES) if form == "team/" else empty_repositories.archive(pack_files(FILES))
    empty_repositories.spec(form, digest(pack_files(FILES)))
    (lock,) = empty_repositories.lock()
    text = lock.read_text()
    names_alone(empty_repositories.folder)
    assert empty_repositories.lock() == [lock]
    assert lock.read_text() == text


@pytest.mark.parametrize("form", ["team/", "team/embed.tar.gz"])
def test_a_config_in_s3_that_is_too_large_is_refused(empty_repositories: Repositories, form: str) -> None:
    files = FILES | {"chain/config.pbtxt": bytes(MAX_BYTES + 1)}
    empty_repositories.prefix(files) if form == "team/" else empty_repositories.archive(pack_files(files))
    empty_repositories.spec(form, digest(pack_files(files)))
    assert (
        f"'chain/config.pbtxt' has {MAX_BYTES + 1} bytes: its content is not checked"
        in empty_repositories.refusal().message
    )


def test_a_lock_with_models_by_name_alone_is_read_and_stale(folder: FleetFolder, repository: Path) -> None:
    locked_archive(folder)
    old = names_alone(folder)
    assert load_lock(old).archives["sentences"].models == {"bert": LockedModel(), "chain": LockedModel()}
    (finding,) = stale_findings(open_project(folder.root, "dev"), "sentences")
    assert (finding.code, finding.file) == ("FL306", old)
    assert locked_archive(folder).models["bert"] == BERT
    assert stale_findings(open_project(folder.root, "dev"), "sentences") == []


@pytest.mark.parametrize(
    "models",
    [
        "[[a]]",
        "[1]",
        "a",
        "{a: 1}",
        "{a: {instances: [{kind: KIND_TPU}]}}",
        "{a: {instances: [{count: 0}]}}",
        "{a: {size: -1}}",
        "{a b: {}}",
        '["a b"]',
    ],
)
def test_facts_that_no_lock_holds_are_refused_with_their_place(folder: FleetFolder, models: str) -> None:
    archive = f'{{digest: "sha256:{"a" * 64}", size: 1, models: {models}}}'
    lock = folder.write("broken.yaml", f"endpoint: e\narchives:\n  a: {archive}\n")
    with pytest.raises(FindingsError) as refusal:
        load_lock(lock)
    assert {(finding.file, finding.line) for finding in refusal.value.findings} == {(lock, 3)}
