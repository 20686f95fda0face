"""No lock is written of a repository that no container would serve, wherever its files are."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fleet_folder import FleetFolder
from tests.support.s3_repositories import Repositories, digest, on_disk, pack_files
from triton_fleet.core.tar_writer import Sink
from triton_fleet.findings import FindingsError
from triton_fleet.project.project import open_project
from triton_fleet.repository.model_config import MAX_BYTES
from triton_fleet.store.lock import write_locks
from triton_fleet.store.sources.folder import FolderSource

PYTHON = b'backend: "python"\n'
REFUSED_FILES = {
    "code outside of its version": (
        {"m/config.pbtxt": PYTHON + b'default_model_filename: "../../../x.py"', "m/1/w.bin": b""},
        "FL410",
    ),
    "code only for a GPU": (
        {"m/config.pbtxt": PYTHON + b'cc_model_filenames { key: "8.0" value: "x" }', "m/1/x": b""},
        "FL410",
    ),
    "a folder in place of the code": ({"m/config.pbtxt": PYTHON, "m/1/model.py/x": b""}, "FL410"),
    "a broken config without a version": ({"m/config.pbtxt": b"garbage {", "m/x": b""}, "FL404"),
    "a folder in place of a config": ({"m/config.pbtxt/readme": b""}, "FL404"),
    "a folder in place of a config at the root": ({"config.pbtxt/1/model.onnx": b""}, "FL402"),
}


@pytest.mark.parametrize(("files", "code"), REFUSED_FILES.values(), ids=REFUSED_FILES)
def test_a_folder_is_not_locked(folder: FleetFolder, files: dict[str, bytes], code: str) -> None:
    on_disk(files, folder.root / "repository")
    with pytest.raises(FindingsError) as refusal:
        write_locks(open_project(folder.root, "dev"))
    assert code in {finding.code for finding in refusal.value.findings}


@pytest.mark.parametrize("form", ["team/", "team/embed.tar.gz"])
@pytest.mark.parametrize(("files", "code"), REFUSED_FILES.values(), ids=REFUSED_FILES)
def test_nor_is_one_in_s3(
    empty_repositories: Repositories, files: dict[str, bytes], code: str, form: str
) -> None:
    stream = pack_files(files)
    empty_repositories.prefix(files) if form == "team/" else empty_repositories.archive(stream)
    empty_repositories.spec(form, digest(stream))
    assert empty_repositories.refusal().code == code


def test_a_config_that_is_not_read_hides_no_missing_version(folder: FleetFolder) -> None:
    on_disk({"m/config.pbtxt": PYTHON + b"#" * 80 + b"\n" * MAX_BYTES}, folder.root / "repository")
    with pytest.raises(FindingsError, match="FL404"):
        write_locks(open_project(folder.root, "dev"))


def test_an_empty_folder_which_git_does_not_keep_changes_no_fact(tmp_path: Path) -> None:
    on_disk({"model/config.pbtxt": b"max_batch_size: 0", "model/1/model.onnx": b"x"}, tmp_path)
    (tmp_path / "model/1/model.savedmodel").mkdir()
    assert FolderSource.of(tmp_path).models()["model"].backend == "onnxruntime"


class ReplacingBody(Sink):
    """Replaces a file when the first bytes of a stream are written."""

    def __init__(self, file: Path, content: bytes) -> None:
        self._file, self._content = file, content

    def write(self, data: bytes, /) -> None:
        self._file.write_bytes(self._content)


def test_a_plan_that_is_replaced_while_it_is_packed_is_an_error(tmp_path: Path) -> None:
    """The lock knows a plan as it is packed."""
    on_disk({"m/config.pbtxt": b'backend: "tensorrt"', "m/1/model.plan": b"ftrt" + bytes(60)}, tmp_path)
    source = FolderSource.of(tmp_path)
    with pytest.raises(FindingsError, match="FL305"):
        source.write(ReplacingBody(tmp_path / "m/1/model.plan", b"plan" + bytes(60)))
