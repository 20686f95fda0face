"""The buildspecs run in bash, as CodeBuild runs them, in a folder that holds the unpacked script and nothing else."""

from __future__ import annotations

import ast
import io
import os
import runpy
import signal
import subprocess
import sys
from importlib.resources import files
from pathlib import Path
from zipfile import ZipFile

import psutil
import pytest

from engine_request.files import RECORD
from tests.support.embedded_s3 import BUCKET
from tests.support.engine_builds import EngineStore, buildspec_command, start, unpacked_script
from triton_fleet.builds.script import SOURCES, build_script


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return unpacked_script(tmp_path / "source")


def test_the_job_buildspec_has_nothing_to_do_for_an_engine_that_is_there(
    store: EngineStore, source: Path
) -> None:
    request = store.request()
    store.put(request.manifest, b"{}")
    variables = {"FLEET_ENGINE_REQUEST": store.address(request)}
    process = start(buildspec_command("job"), source, store.environment | variables)
    text, _ = process.communicate()
    assert (process.returncode, "exists already: nothing to do" in text) == (0, True)


def test_a_build_that_is_stopped_takes_trtexec_along_and_leaves_nothing_that_reads_as_done(
    store: EngineStore, source: Path
) -> None:
    request = store.request()
    command = [sys.executable, ".", "compile", str(store.inputs(request)), str(store.outputs)]
    process = start(command, source, store.environment | {"FLEET_STAND_IN_FAULT": "hang"})
    assert process.stdout is not None
    assert any("hangs on request" in line for line in process.stdout)
    children = psutil.Process(process.pid).children(recursive=True)
    assert [Path(child.cmdline()[1]).name for child in children] == ["trtexec"]
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == 21
    assert psutil.wait_procs(children, timeout=10)[1] == []
    assert not (store.outputs / RECORD).exists()
    assert store.compile(request) == 0, "the next build makes up for it"


def test_one_zip_file_builds_with_neither_credentials_nor_packages(
    store: EngineStore, tmp_path: Path
) -> None:
    """As in an isolated job, whose image has no boto3: `-S` is a Python without packages."""
    file = tmp_path / "script.zip"
    file.write_bytes(build_script()[0])
    request = store.request()
    inputs = store.inputs(request)
    command = [sys.executable, "-I", "-S", str(file), "compile", str(inputs), str(store.outputs)]
    variables = {name: value for name, value in store.environment.items() if not name.startswith("AWS_")}
    process = start(command, tmp_path, variables)
    text, _ = process.communicate()
    assert process.returncode == 0, text
    assert "[I] [stand-in] wrote a plan" in text, "trtexec's output is in the log"
    store.store(request)
    assert store.json(request.manifest)["key"] == request.key


def test_what_a_person_has_compiled_is_stored_by_a_command(
    store: EngineStore, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = store.request()
    assert store.compile(request) == 0
    command = [sys.executable, ".", "store", store.address(request), str(store.outputs)]
    process = start(command, source, store.environment)
    text, _ = process.communicate()
    assert process.returncode == 0, text
    assert f"s3://{BUCKET}/{request.plan} has " in text
    assert store.json(request.manifest)["by"] == ""


def test_the_zip_file_is_the_same_for_the_same_files() -> None:
    content, digest = build_script()
    assert (content, digest) == build_script()
    with ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        assert {"__main__.py", "compile_engine/reasons.json", "engine_request/requirements.txt"} <= {
            member.filename for member in members
        }
        assert {member.date_time for member in members} == {(1980, 1, 1, 0, 0, 0)}
        assert not [member.filename for member in members if "__pycache__" in member.filename]


@pytest.mark.parametrize("arguments", [[], ["compile", "s3://b/k"], ["destroy", "s3://b/k"]])
def test_a_call_that_is_none_is_told_what_is_one(source: Path, arguments: list[str]) -> None:
    process = subprocess.run([sys.executable, ".", *arguments], cwd=source, capture_output=True, text=True)
    assert process.returncode == 2
    assert process.stderr.startswith("usage: python3 SCRIPT compile INPUT OUTPUT ")


def test_the_pins_are_those_of_the_repository(root: Path) -> None:
    ours = (root / "requirements.txt").read_text(encoding="utf-8").splitlines()
    pins = files("engine_request").joinpath("requirements.txt").read_text(encoding="utf-8").splitlines()
    expected_texts = [line.removesuffix(" \\") for line in pins if not line.startswith("#")]
    assert set(expected_texts) <= {line.removesuffix(" \\") for line in ours}
    names = {line.partition("==")[0] for line in expected_texts if "==" in line}
    assert names == {"boto3", "botocore", "jmespath", "python-dateutil", "s3transfer", "six", "urllib3"}


def test_the_script_imports_nothing_that_the_image_has_not() -> None:
    ours = {path.stem for path in SOURCES.iterdir() if path.is_dir()}
    allowed_module_names = sys.stdlib_module_names | {"boto3", "botocore"} | ours
    for path in SOURCES.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"), feature_version=(3, 10))
        for node in ast.walk(tree):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            assert {name.partition(".")[0] for name in names} <= allowed_module_names, path


def test_a_build_that_starts_jobs_needs_boto3_or_a_way_to_it(source: Path) -> None:
    command = [sys.executable, "-S", ".", "job", "s3://b/k"]  # without site-packages
    environment = {"PATH": os.environ["PATH"], "PIP_NO_INDEX": "1"}
    process = subprocess.run(command, cwd=source, env=environment, capture_output=True, text=True)
    assert process.returncode == 13
    assert "boto3 could not be installed" in process.stderr


def test_an_image_with_an_old_python_is_unfit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = runpy.run_path(str(SOURCES / "__main__.py"))["run"]
    monkeypatch.setattr(sys, "version_info", (3, 8, 10))
    assert run(["compile", "s3://b/k"]) == 13
    assert capsys.readouterr().err == "error: this image has Python 3.8; the build needs 3.10\n"
