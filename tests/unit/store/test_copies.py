"""Copies of one repository: archives whose models have names of their own, and a lock that knows them all."""

from __future__ import annotations

import io
import re
import shutil
import tarfile
from pathlib import Path

import pytest

from tests.support.fleet_folder import SPEC, FleetFolder
from triton_fleet.check.lock_drift import stale_findings
from triton_fleet.findings import Finding, FindingsError
from triton_fleet.project.fleet_files import load_lock
from triton_fleet.project.project import open_project
from triton_fleet.store.archive import DigestWriter
from triton_fleet.store.lock import write_locks
from triton_fleet.store.sources.copy import CopySource
from triton_fleet.store.sources.folder import FolderSource

COPIES = SPEC.replace("triton:", "mode: multi-model\ntriton:").replace(
    "../repository", "../repository, copies: 3"
)
ENSEMBLE = """\
platform: "ensemble"
ensemble_scheduling {
  step [ { model_name: "bert" model_version: -1 } ]
}
"""


@pytest.fixture
def repository(folder: FleetFolder) -> Path:
    """An ensemble and its model, and a file beside them."""
    folder.spec(base=COPIES)
    folder.write("repository/bert/config.pbtxt", 'name: "bert"\nbackend: "python"\n')
    folder.write("repository/bert/1/model.py", "x = 1\n")
    folder.write("repository/bert/1/model.onnx", "weights")
    folder.write("repository/bert-chain/config.pbtxt", ENSEMBLE)
    (folder.root / "repository/bert-chain/1").mkdir()
    folder.write("repository/NOTES", "x")
    return folder.root / "repository"


def refusal_findings(folder: FleetFolder) -> list[Finding]:
    with pytest.raises(FindingsError) as caught:
        write_locks(open_project(folder.root, "dev"))
    return caught.value.findings


def test_each_copy_is_the_archive_of_a_repository_whose_models_are_called_so(
    folder: FleetFolder, repository: Path
) -> None:
    copied_writer, renamed_writer = DigestWriter(), DigestWriter()
    CopySource(FolderSource.of(repository), 2).write(copied_writer)
    for model in ("bert", "bert-chain"):
        (repository / model).rename(repository / f"{model}_2")
    folder.write("repository/bert_2/config.pbtxt", 'name: "bert_2"\nbackend: "python"\n')
    folder.write("repository/bert-chain_2/config.pbtxt", ENSEMBLE.replace('"bert"', '"bert_2"'))
    FolderSource.of(repository).write(renamed_writer)
    assert copied_writer.digest == renamed_writer.digest


def test_a_config_named_otherwise_than_its_directory_is_renamed_by_its_structure_or_refused(
    folder: FleetFolder, repository: Path
) -> None:
    """A loop that replaces the text `bert_0` leaves `name: "bert"` in every copy of a directory `bert_0`."""
    (repository / "bert").rename(repository / "bert_0")
    findings = refusal_findings(folder)
    assert [(f.code, f.file, f.line) for f in findings] == [("FL411", repository / "bert_0/config.pbtxt", 1)]
    assert findings[0].message == (
        "unexpected directory name 'bert_0' for model 'bert', directory name must equal model name"
    )
    folder.write("repository/bert_0/config.pbtxt", 'name: "bert_0"\nbackend: "python"\n')
    names = set[str]()
    for copy in range(3):
        stream = io.BytesIO()
        CopySource(FolderSource.of(repository), copy).write(stream)
        stream.seek(0)
        with tarfile.open(fileobj=stream) as tar:
            config = tar.extractfile(f"bert_0_{copy}/config.pbtxt")
            assert config is not None
            names |= set(re.findall(r'name: "(.*)"', config.read().decode()))
    assert names == {"bert_0_0", "bert_0_1", "bert_0_2"}


def test_the_lock_holds_each_copy_and_the_repositorys_own_files_once(
    folder: FleetFolder, repository: Path
) -> None:
    (file,) = write_locks(open_project(folder.root, "dev"))
    lock = load_lock(file)
    assert list(lock.archives) == ["sentences-0", "sentences-1", "sentences-2"]
    assert list(lock.archives["sentences-1"].models) == ["bert-chain_1", "bert_1"]
    assert len({archive.digest for archive in lock.archives.values()}) == 3
    assert sorted(lock.repositories["sentences"].files) == [
        "NOTES",
        "bert-chain/config.pbtxt",
        "bert/1/model.onnx",
        "bert/1/model.py",
        "bert/config.pbtxt",
    ]
    assert list(lock.repositories["sentences"].onnx) == ["bert/1/model.onnx"]
    assert stale_findings(open_project(folder.root, "dev"), "sentences") == []


@pytest.mark.parametrize("changed_text", ["bert/1/model.py", "bert/config.pbtxt"])
def test_a_changed_file_is_named_once_for_all_copies(
    folder: FleetFolder, repository: Path, changed_text: str
) -> None:
    write_locks(open_project(folder.root, "dev"))
    (repository / changed_text).write_text((repository / changed_text).read_text() + "\n")
    (finding,) = stale_findings(open_project(folder.root, "dev"), "sentences")
    assert (finding.code, finding.file) == ("FL306", repository / changed_text)


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ('\nrequest = pb_utils.InferenceRequest(model_name="bert-chain", inputs=[])\n', 2),
        ("NAMES = {\n  'a': 'bert-'\n       'chain'}\n", 2),
        ("def new[T](): pass\nmatch 1:\n  case 'bert-chain': print 'no Python at all'\n", 3),
    ],
)
def test_code_that_names_another_model_is_refused_by_file_and_line(
    folder: FleetFolder, repository: Path, code: str, line: int
) -> None:
    (repository / "bert/1/model.py").write_text(code)
    (finding,) = refusal_findings(folder)
    assert (finding.code, finding.file, finding.line) == ("FL412", repository / "bert/1/model.py", line)


def test_code_may_name_its_own_model_and_longer_texts(folder: FleetFolder, repository: Path) -> None:
    (repository / "bert/1/model.py").write_text("LOG = 'bert'\nHELP = 'ask the bert-chain'\n")
    assert len(write_locks(open_project(folder.root, "dev"))) == 1


def test_a_config_that_cannot_be_read_cannot_be_copied(folder: FleetFolder, repository: Path) -> None:
    folder.write("repository/bert/config.pbtxt", "name: 'bert'\ninput [ {\n")
    (finding,) = refusal_findings(folder)
    assert (finding.code, finding.line) == ("FL413", 3)


def test_the_layout_of_what_is_copied_is_checked(repository: Path) -> None:
    shutil.rmtree(repository / "bert/1")
    with pytest.raises(FindingsError, match="FL404"):
        CopySource(FolderSource.of(repository), 0).models()


def test_copies_are_made_of_folders_alone(folder: FleetFolder) -> None:
    digest = f'digest: "sha256:{"a" * 64}"'
    folder.spec(base=COPIES.replace("../repository", f"s3://models/bert.tar.gz, {digest}"))
    (finding,) = refusal_findings(folder)
    assert (finding.code, finding.line) == ("FL313", 6)
    assert finding in stale_findings(open_project(folder.root, "dev"), "sentences")
