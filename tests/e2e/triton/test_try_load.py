"""The last word on a repository is that of the real Triton."""

from __future__ import annotations

import tarfile
from pathlib import Path

import psutil
import pytest

from tests.support.broken_repositories import (
    CODE,
    CONFIG,
    DOUBLE,
    ENSEMBLE,
    PLAN,
    SCALE,
    Case,
    Files,
    change_file,
    move_files,
    without,
)
from triton_fleet.findings import Severity
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.try_load import TryLoadResult, findings, load_in_triton
from triton_fleet.spec.endpoint import Mode

pytestmark = pytest.mark.triton

MODES = pytest.mark.parametrize(
    "mode", [Mode.SINGLE, pytest.param(Mode.MULTI_MODEL, marks=pytest.mark.nightly)]
)
GPU = "instance_group { kind: KIND_GPU }\n"


class Asker:
    """Writes a repository, and has the real Triton judge it."""

    def __init__(self, runtime: TritonRuntime, folder: Path) -> None:
        self.runtime, self.repository = runtime, folder / "repository"

    def ask(self, files: Files, mode: Mode, default_model: str = "", seconds: float = 60.0) -> TryLoadResult:
        Case(id="", files=files, change="").write(self.repository)
        return load_in_triton(
            self.repository, self.runtime, mode=mode, default_model=default_model, seconds=seconds
        )


@pytest.fixture
def asker(runtime: TritonRuntime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asker:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return Asker(runtime, tmp_path)


@MODES
def test_a_model_that_loads_is_ready_and_nothing_is_found(asker: Asker, mode: Mode) -> None:
    answer = asker.ask(DOUBLE, mode)
    assert answer.is_loaded
    assert answer.ready == (("double",) if mode == Mode.SINGLE else ("repository.tar.gz",))
    assert findings(answer) == []
    assert answer.lines() == [f"Triton 24.10 loads it; ready: {answer.ready[0]}"]


def test_an_ensemble_is_loaded_with_its_models(asker: Asker) -> None:
    answer = asker.ask(ENSEMBLE, Mode.MULTI_MODEL)
    assert (answer.reason, answer.ready) == ("", ("double", "repository.tar.gz", "scale"))


def test_a_single_container_loads_the_model_that_is_named(asker: Asker) -> None:
    assert asker.ask(ENSEMBLE, Mode.SINGLE, default_model="scale").ready == ("scale",)


def test_an_archive_is_unpacked_and_loaded_by_its_name(asker: Asker, tmp_path: Path) -> None:
    Case(id="", files=DOUBLE, change="").write(asker.repository)
    archive = tmp_path / "mine.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(asker.repository, ".")
    assert load_in_triton(archive, asker.runtime, mode=Mode.MULTI_MODEL).ready == ("mine.tar.gz",)


def test_what_is_no_archive_is_refused_without_a_traceback(asker: Asker, tmp_path: Path) -> None:
    archive = tmp_path / "mine.tar.gz"
    archive.write_bytes(b"no archive")
    (finding,) = findings(load_in_triton(archive, asker.runtime, mode=Mode.SINGLE))
    assert finding.code == "FL490"
    assert f"Could not unpack model data at {archive}" in finding.message


@MODES
def test_a_config_that_triton_cannot_parse_is_named_with_its_line(asker: Asker, mode: Mode) -> None:
    broken_files = change_file(ENSEMBLE, CONFIG, add="no_such_field: 1\n")
    (finding,) = findings(asker.ask(broken_files, mode, default_model="pipeline"))
    assert (finding.code, finding.severity) == ("FL490", Severity.ERROR)
    assert (finding.file, finding.line) == (asker.repository / CONFIG, 6)
    assert 'Message type "inference.ModelConfig" has no field named "no_such_field".' in finding.message


@MODES
def test_code_that_fails_is_named_with_its_line(asker: Asker, mode: Mode) -> None:
    code = CODE + b"\n    def initialize(self, args):\n        raise ValueError('spoilt')\n"
    (finding,) = findings(asker.ask({**DOUBLE, "double/1/model.py": code}, mode))
    assert finding.file == asker.repository / "double/1/model.py"
    assert finding.line == code.decode().splitlines().index("        raise ValueError('spoilt')") + 1
    assert "ValueError: spoilt" in finding.message


@MODES
def test_code_that_python_cannot_compile_is_named_with_its_line(asker: Asker, mode: Mode) -> None:
    code = CODE + b"\n  def finalize(self):\n      pass\n"
    (finding,) = findings(asker.ask({**DOUBLE, "double/1/model.py": code}, mode))
    assert finding.file == asker.repository / "double/1/model.py"
    assert finding.line == code.decode().splitlines().index("  def finalize(self):") + 1
    assert "IndentationError: " in finding.message


def test_the_start_scripts_refusal_is_told_in_its_words(asker: Asker) -> None:
    (finding,) = findings(asker.ask({**DOUBLE, **SCALE}, Mode.SINGLE))
    assert "More than 1 model directory found in model repository." in finding.message
    assert finding.file == asker.repository


def test_files_at_the_root_are_a_model_of_a_multi_model_endpoint_alone(asker: Asker, tmp_path: Path) -> None:
    at_root = move_files(DOUBLE, "double/", "")
    assert asker.ask(at_root, Mode.MULTI_MODEL).is_loaded
    answer = load_in_triton(asker.repository, asker.runtime, mode=Mode.SINGLE)
    assert answer.reason.startswith("Incorrect directory structure.")


def test_a_model_of_a_gpu_backend_is_judged_by_the_core_and_is_not_said_to_be_loaded(asker: Asker) -> None:
    answer = asker.ask(change_file(PLAN, "plan/config.pbtxt", add=GPU), Mode.SINGLE)
    assert (answer.is_loaded, answer.reason, answer.ready) == (False, "", ())
    assert answer.parts.untried_models == {"plan": "tensorrt"}
    assert findings(answer) == []
    assert [str(rewrite) for rewrite in answer.rewrites] == [
        "plan/config.pbtxt: instance_group { kind: KIND_GPU } -> instance_group { count: 1 kind: KIND_CPU }"
    ]


@pytest.mark.parametrize("backend", ["pytorch", "mine"])
def test_the_core_refuses_what_is_wrong_with_the_config_of_any_backend(asker: Asker, backend: str) -> None:
    broken_files = change_file(DOUBLE, CONFIG, ('"python"', f'"{backend}"'), ("dims: [ 2 ]", "dims: [ 0 ]"))
    (finding,) = findings(asker.ask(broken_files, Mode.SINGLE))
    assert "model input 'x' dimension must be integer >= 1" in finding.message
    assert finding.file == asker.repository / CONFIG


def test_a_stand_in_has_no_library_and_the_configuration_need_not_name_it(asker: Asker) -> None:
    files = change_file(PLAN, "plan/config.pbtxt", add='runtime: "libtriton_tensorrt.so"\n')
    answer = asker.ask(move_files(files, "plan/", ""), Mode.MULTI_MODEL)
    assert (answer.is_loaded, answer.reason) == (False, "")
    assert answer.parts.untried_models == {"repository": "tensorrt"}
    assert [str(rewrite) for rewrite in answer.rewrites] == [
        "config.pbtxt: no instance_group -> instance_group { count: 1 kind: KIND_CPU }",
        'config.pbtxt: runtime: "libtriton_tensorrt.so" -> dropped',
    ]


def test_what_a_stand_in_cannot_know_makes_a_warning_of_the_refusal(asker: Asker) -> None:
    plan = change_file(
        ENSEMBLE,
        CONFIG,
        ('backend: "python"', 'backend: "tensorrt"'),
        ('input [ { name: "x" data_type: TYPE_FP32 dims: [ 2 ] } ]', ""),
    )
    (finding,) = findings(asker.ask(plan, Mode.MULTI_MODEL))
    assert (finding.code, finding.severity) == ("FL492", Severity.WARNING)
    assert (
        "the configuration of 'double' leaves out inputs or outputs, which tensorrt would take"
        in finding.hint
    )


@MODES
def test_a_text_that_needs_a_gpu_is_read_as_it_is_written(asker: Asker, mode: Mode) -> None:
    """Protobuf's Python takes a plus sign; Triton does not, so that the text is not rewritten for a CPU."""
    (finding,) = findings(asker.ask(change_file(DOUBLE, CONFIG, ("[ 2 ]", "[ +2 ]"), add=GPU), mode))
    name = "double" if mode is Mode.SINGLE else "repository.tar.gz"
    assert finding.message.endswith(
        f"the config.pbtxt of model {name!r} cannot be read: line 4:50: Expected integer, got: +"
    )
    assert (finding.file, finding.line) == (asker.repository / CONFIG, 4)


def test_a_python_model_without_its_code_is_told_in_place_of_a_wait_without_end(asker: Asker) -> None:
    codeless = {**without(DOUBLE, ["double/1/model.py"]), "double/1/": b""}
    answer = asker.ask(codeless, Mode.MULTI_MODEL, seconds=600.0)
    assert answer.silent
    (finding,) = findings(answer)
    assert finding.code == "FL491"
    assert "Python model file not found in 'double/1/model.py'" in finding.message


@MODES
def test_a_load_that_takes_too_long_is_given_up(asker: Asker, mode: Mode) -> None:
    slow = {**DOUBLE, "double/1/model.py": b"import time\ntime.sleep(600)\n"}
    (finding,) = findings(asker.ask(slow, mode, seconds=2.0))
    assert finding.code == "FL491"
    assert "not ready after 2 s; still loading" in finding.message


def test_a_server_that_ends_is_told(asker: Asker) -> None:
    """A version beyond 64 bits ends Triton 24.10."""
    answer = asker.ask(move_files(DOUBLE, "double/1/", f"double/{'9' * 20}/"), Mode.MULTI_MODEL)
    assert answer.reason == "it was ended by SIGABRT"


@MODES
def test_a_server_that_a_signal_ends_once_is_asked_again(asker: Asker, tmp_path: Path, mode: Mode) -> None:
    """Triton 24.10 now and then aborts on a busy machine; here its first model's code ends it."""
    folder = tmp_path / "ended"
    abort = f"""
import os, pathlib, signal
if not pathlib.Path({str(folder)!r}).exists():
    pathlib.Path({str(folder)!r}).touch()
    server = os.getppid()
    while pathlib.Path(f"/proc/{{server}}/comm").read_text().strip() != "tritonserver":
        server = int(pathlib.Path(f"/proc/{{server}}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(server, signal.SIGABRT)
"""
    answer = asker.ask({**DOUBLE, "double/1/model.py": DOUBLE["double/1/model.py"] + abort.encode()}, mode)
    assert folder.exists()
    assert (answer.is_loaded, answer.reason) == (True, "")


def test_two_models_of_an_archive_are_said_to_be_left_to_chance(asker: Asker) -> None:
    answer = asker.ask({**DOUBLE, **SCALE}, Mode.MULTI_MODEL)
    assert answer.reason == ""
    assert answer.doubts == (
        "the archive contains 2 models and no ensemble, double, scale: any of them would be loaded, and the others not",
    )


@MODES
def test_nothing_is_left_and_the_repository_is_as_it_was(asker: Asker, tmp_path: Path, mode: Mode) -> None:
    files = change_file(DOUBLE, CONFIG, add=GPU)
    answer = asker.ask(files, mode)
    assert answer.is_loaded
    assert [entry.name for entry in tmp_path.iterdir()] == ["repository"]
    assert (asker.repository / CONFIG).read_bytes() == files[CONFIG]
    assert not [child for child in psutil.Process().children(recursive=True) if "triton" in child.name()]


def test_a_shared_container_loads_every_model_of_its_repository(asker: Asker) -> None:
    assert asker.ask({**DOUBLE, **SCALE}, Mode.SHARED_CONTAINER).ready == ("double", "scale")


def test_a_model_that_a_shared_container_cannot_load_is_named(asker: Asker) -> None:
    broken_values = {**DOUBLE, "other/config.pbtxt": SCALE["scale/config.pbtxt"].replace(b"scale", b"other")}
    (finding,) = findings(asker.ask(broken_values, Mode.SHARED_CONTAINER))
    assert "other" in finding.message
