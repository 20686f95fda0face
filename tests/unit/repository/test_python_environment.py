"""The environment that gpu-ensembles' Python models bring is what its lock file says, and any Python takes it."""

from __future__ import annotations

import base64
import gzip
import hashlib
import importlib.util
import io
import platform
import subprocess
import sys
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.fleet_folder import ROOT
from triton_fleet.catalog.releases import stub_python
from triton_fleet.repository.contents import CondaEnvironment
from triton_fleet.repository.reading.environment import read_environment
from triton_fleet.repository.reading.gunzip import Bounds
from triton_fleet.repository.stream import Stream

EXAMPLE = ROOT / "examples/gpu_ensembles"
FITS = "cp39-abi3-manylinux_2_17_x86_64"
IMPORT_CODE = (
    "import numpy, sys, tokenizers; print(sys.prefix, tokenizers.__file__, numpy.__file__, sep='\\n')"
)


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_environment", EXAMPLE / "make_environment.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [*sys.path])  # it adds the example that it shares a module with
        spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def archive(script: ModuleType) -> bytes:
    if (platform.system(), platform.machine()) != ("Linux", "x86_64"):
        pytest.skip("what is installed here does not fit the container: Linux on x86-64")
    content: bytes = script.store(script.pack(script.files(script.LOCK)))
    return content


class InstalledEnvironment:
    """A distribution `thing` 1.0 of one module, as an installer leaves it in a folder on sys.path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.lock = folder / "environment.txt"
        self.lock.write_text("thing==1.0 \\\n    --hash=sha256:aa\n")
        self.write("thing/__init__.py", "x = 1\n")
        self.install()

    def write(self, file: str, text: str) -> None:
        (self.folder / file).parent.mkdir(exist_ok=True)
        (self.folder / file).write_text(text)

    def install(self, version: str = "1.0", tag: str = FITS) -> None:
        digest = hashlib.sha256((self.folder / "thing/__init__.py").read_bytes()).digest()
        text = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        record = (
            f"thing/__init__.py,sha256={text},6\nthing/__pycache__/x.pyc,,\nthing-1.0.dist-info/RECORD,,\n"
        )
        self.write("thing-1.0.dist-info/METADATA", f"Name: thing\nVersion: {version}\n")
        self.write("thing-1.0.dist-info/WHEEL", f"Wheel-Version: 1.0\nTag: {tag}\n")
        self.write("thing-1.0.dist-info/RECORD", record)


@pytest.fixture
def installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> InstalledEnvironment:
    monkeypatch.syspath_prepend(tmp_path)
    return InstalledEnvironment(tmp_path)


def test_it_is_an_environment_for_the_python_of_the_endpoints_triton(archive: bytes) -> None:
    (python, certain) = stub_python("25.04")
    assert certain
    read = read_environment(Stream(archive), Bounds(len(archive)))
    assert read == CondaEnvironment(activate="bin/activate", python=python)


def test_its_bytes_tell_nothing_of_who_packed_it(script: ModuleType, archive: bytes) -> None:
    assert script.store(script.pack(script.files(script.LOCK))) == archive
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        members = tar.getmembers()
    assert {(member.mtime, member.uid, member.uname, member.mode) for member in members} == {
        (0, 0, "", 0o644)
    }
    names = [member.name for member in members]
    assert names == sorted(names)
    assert not [
        name for name in names if name.endswith((".pyc", "/RECORD", "/INSTALLER", "/direct_url.json"))
    ]


@pytest.mark.parametrize("size", [1, 65_535, 65_536, 200_000])
def test_what_is_stored_is_gzip_of_the_same_content(script: ModuleType, size: int) -> None:
    content = b"0123456789"[:size] * (size // 10 + 1)
    assert gzip.decompress(script.store(content[:size])) == content[:size]


def test_an_activated_python_finds_its_packages_there_and_numpy_where_it_did(
    archive: bytes, tmp_path: Path
) -> None:
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(tmp_path, filter="data")
    text = f'source "{tmp_path}/bin/activate" && exec python3 -c "{IMPORT_CODE}"'
    run = ["bash", "-c", text]
    path = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin"}
    first = subprocess.run(run, env=path, capture_output=True, text=True, check=True).stdout
    prefix, tokenizers, numpy = map(Path, first.split())
    assert prefix == tmp_path
    assert tokenizers.is_relative_to(tmp_path / "lib")
    assert numpy.is_relative_to(sys.prefix)
    assert subprocess.run(run, env=path, capture_output=True, text=True, check=True).stdout == first


def test_a_distribution_is_packed_without_what_its_installer_added(
    script: ModuleType, installation: InstalledEnvironment
) -> None:
    packed_layer = script.files(installation.lock)
    assert [name for name in packed_layer if "thing" in name] == [f"{script.PACKAGES}/thing/__init__.py"]


def test_what_is_not_installed_is_named(script: ModuleType, installation: InstalledEnvironment) -> None:
    installation.lock.write_text("absent==2.0\n")
    with pytest.raises(script.NotAsLockedError, match="absent 2.0 is not installed"):
        script.files(installation.lock)


@pytest.mark.parametrize(
    "line", ["thing[fast]==1.0 \\", "thing==1.0 ; sys_platform == 'linux'", "thing>=1.0"]
)
def test_a_line_that_locks_no_version_for_every_machine_is_refused(
    script: ModuleType, installation: InstalledEnvironment, line: str
) -> None:
    installation.lock.write_text(f"{line}\n    --hash=sha256:aa\n")
    with pytest.raises(script.NotAsLockedError, match="is no NAME==VERSION: leave out extras and markers"):
        script.files(installation.lock)


def test_another_version_is_refused(script: ModuleType, installation: InstalledEnvironment) -> None:
    installation.install(version="1.1")
    with pytest.raises(script.NotAsLockedError, match="thing 1.1 is installed, and 1.0 is locked"):
        script.files(installation.lock)


@pytest.mark.parametrize("tag", ["cp311-cp311-manylinux_2_17_x86_64", "cp39-abi3-macosx_11_0_arm64"])
def test_what_fits_one_python_or_another_machine_is_refused(
    script: ModuleType, installation: InstalledEnvironment, tag: str
) -> None:
    installation.install(tag=tag)
    with pytest.raises(script.NotAsLockedError, match=f"a wheel for {tag}, which does not fit"):
        script.files(installation.lock)


def test_a_file_that_was_changed_is_refused_in_a_sentence_that_says_what_helps(
    script: ModuleType,
    installation: InstalledEnvironment,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    installation.write("thing/__init__.py", "x = 2\n")
    into = installation.folder / "models"
    monkeypatch.setattr(sys, "argv", ["make", "--lock", str(installation.lock), "--into", str(into)])
    assert script.main() == 2
    text = "make_environment: thing/__init__.py is not as thing 1.0 has it: run `make clean`, then `make setup`\n"
    assert capsys.readouterr().err == text
    assert not into.exists()
