"""`fleet check --run` says "loads it" only of what was loaded, and names what loaded it."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.broken_repositories import (
    DOUBLE,
    ENSEMBLE,
    PLAN,
    SCALE,
    TENSORS,
    Case,
    Files,
    change_file,
    graph,
    move_files,
)
from triton_fleet.check.repositories import RepositoryTarget
from triton_fleet.cli.try_load import run_findings
from triton_fleet.findings import Severity
from triton_fleet.local.triton.runtime import TritonRuntime
from triton_fleet.local.try_load import TryLoadResult, findings, load_in_triton
from triton_fleet.spec.endpoint import Mode

pytestmark = [pytest.mark.triton, pytest.mark.usefixtures("runtime")]

VALIDATION_MESSAGE = "Triton 24.10 validated only its configuration"


def zip_model(*names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, b"")
    return file.getvalue()


def model(name: str, backend: str, file: str = "", content: bytes = b"", config: str = "") -> Files:
    tensors = TENSORS.replace('"x"', '"x__0"').replace('"y"', '"y__0"') if backend == "pytorch" else TENSORS
    if backend == "fil":
        tensors = tensors.replace('"x"', '"input__0"').replace('"y"', '"output__0"')
    text = f'name: "{name}"\nbackend: "{backend}"\n{tensors}{config}'
    return {f"{name}/config.pbtxt": text.encode(), f"{name}/1/{file}": content}


FOREST = "".join(
    f'parameters {{ key: "{key}" value {{ string_value: "{value}" }} }}\n'
    for key, value in {"model_type": "xgboost_json", "output_class": "false"}.items()
)
NET: Files = move_files(change_file(SCALE, "scale/config.pbtxt", ('"scale"', '"net"')), "scale/", "net/")
TORCHSCRIPT = zip_model("net/data.pkl", "net/constants.pkl", "net/code/__torch__.py")
BROKEN_REPOSITORIES: Mapping[str, tuple[Files, RepositoryTarget, str]] = {
    "too-new": (
        {**NET, "net/1/model.onnx": graph(["n", 2], ir_version=11)},
        RepositoryTarget(release="24.09"),
        "a stand-in for ONNX Runtime's backend, as Triton 24.09 has it, does not load it: onnx runtime error 1:"
        " Load model from net/1/model.onnx failed:Unsupported model IR version: 11, max supported IR version: 10",
    ),
    "state-dict": (
        model("weights", "pytorch", "model.pt", zip_model("archive/data.pkl", "archive/data/0")),
        RepositoryTarget(),
        "not tried, and cannot be loaded: weights/1/model.pt: PytorchStreamReader failed locating file"
        " constants.pkl: file not found: it is not TorchScript, but weights or a pickled module",
    ),
    "llama": (
        model("llama", "vllm", "model.json", b"{}"),
        RepositoryTarget(),
        "Triton 24.10 does not load it: model 'llama' failed to load: unable to find backend library for backend"
        " 'vllm', try specifying runtime on the model configuration.",
    ),
    "gpt": (
        model("gpt", "tensorrtllm"),
        RepositoryTarget(),
        "Triton 24.10 does not load it: model 'gpt' failed to load: unable to find backend library for backend"
        " 'tensorrtllm', try specifying runtime on the model configuration.",
    ),
    "forest": (
        model("forest", "fil", "xgboost.json", b'{"learner": ', FOREST),
        RepositoryTarget(),
        "not tried, and cannot be loaded: forest/1/xgboost.json: it is not JSON: line 1, column 13: Expecting"
        " value",
    ),
}
"""Repositories that no container loads: what is asked, and the line that is printed for each."""
SHORT = {"python", "ensemble", "partly", "forest"}
"""Of the repositories below, one for each way of loading; the night tries all."""
HEALTHY: Mapping[str, tuple[Files, RepositoryTarget, str]] = {
    "python": (DOUBLE, RepositoryTarget(), "Triton 24.10 loads it; ready: double"),
    "onnx": (
        NET,
        RepositoryTarget(release="24.09"),
        (
            "a stand-in for ONNX Runtime's backend loads it, within the versions that Triton 24.09 reads;"
            " ready: net"
        ),
    ),
    "newer-onnx": (
        {**NET, "net/1/model.onnx": graph(["n", 2], ir_version=11)},
        RepositoryTarget(release="25.09"),
        (
            "a stand-in for ONNX Runtime's backend loads it, within the versions that Triton 25.09 reads;"
            " ready: net"
        ),
    ),
    "ensemble": (
        ENSEMBLE,
        RepositoryTarget(default_model="pipeline"),
        (
            "a stand-in for ONNX Runtime's backend loads 'scale', within the versions that Triton 24.10 reads;"
            " Triton 24.10 loads the rest; ready: double, pipeline, scale"
        ),
    ),
    "plan": (
        PLAN,
        RepositoryTarget(),
        f"not tried, as this machine lacks the backend: 'plan' (tensorrt); {VALIDATION_MESSAGE}",
    ),
    "torchscript": (
        model("net", "pytorch", "model.pt", TORCHSCRIPT),
        RepositoryTarget(),
        f"not tried, as this machine lacks the backend: 'net' (pytorch); {VALIDATION_MESSAGE}",
    ),
    "forest": (
        model("forest", "fil", "xgboost.json", b'{"learner": {}, "version": [1, 7, 6]}', FOREST),
        RepositoryTarget(),
        f"not tried, as this machine lacks the backend: 'forest' (fil); {VALIDATION_MESSAGE}",
    ),
    "own": (
        model("mine", "mine"),
        RepositoryTarget(),
        (
            "not tried, as this machine lacks the backend: 'mine' (mine, which the model or an image of your own"
            f" has to bring); {VALIDATION_MESSAGE}"
        ),
    ),
    "partly": (
        {
            **ENSEMBLE,
            **move_files(change_file(PLAN, "plan/config.pbtxt", ('"plan"', '"scale"')), "plan/", "scale/"),
        },
        RepositoryTarget(default_model="pipeline"),
        (
            "not tried, as this machine lacks the backend: 'scale' (tensorrt); so 'pipeline' was not loaded as"
            " a whole; Triton 24.10 loads the rest; ready: double"
        ),
    ),
    "other": (
        {**DOUBLE, **PLAN},
        RepositoryTarget(default_model="double"),
        "Triton 24.10 loads it; ready: double",
    ),
}
"""Repositories without a known mistake, and what is printed for them."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "fleet"), "check", "--run", *arguments]
    environment = {"HOME": str(folder / "home"), "PATH": "/usr/bin:/bin", "TMPDIR": str(folder)}
    process = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert "Traceback" not in process.stderr
    return process


def write(folder: Path, name: str, files: Files) -> None:
    Case(id="", files=files, change="").write(folder / name)


def ask(
    folder: Path, runtime: TritonRuntime, name: str, files: Files, requested_target: RepositoryTarget
) -> TryLoadResult:
    write(folder, name, files)
    return load_in_triton(
        folder / name,
        runtime.for_release(requested_target.release) if requested_target.release else runtime,
        mode=requested_target.mode,
        default_model=requested_target.default_model or "",
    )


@pytest.mark.parametrize("name", BROKEN_REPOSITORIES)
def test_a_repository_that_no_container_loads_is_an_error_with_the_sentence_that_is_true(
    folder: Path, runtime: TritonRuntime, name: str
) -> None:
    files, requested_target, sentence = BROKEN_REPOSITORIES[name]
    answer = ask(folder, runtime, name, files, requested_target)
    assert answer.lines()[0] == sentence
    assert not any("loads it" in line for line in answer.lines())
    (finding,) = findings(answer)
    assert finding.severity is Severity.ERROR
    assert ("`--triton`" in finding.hint) is (name == "too-new")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in SHORT else pytest.mark.nightly, id=name) for name in HEALTHY],
)
def test_what_loaded_each_part_of_a_repository_is_named(
    folder: Path, runtime: TritonRuntime, name: str
) -> None:
    files, requested_target, sentence = HEALTHY[name]
    answer = ask(folder, runtime, name, files, requested_target)
    assert answer.lines()[0] == sentence
    assert findings(answer) == []


@pytest.mark.nightly
def test_the_five_that_no_container_loads_fail_in_one_command(folder: Path) -> None:
    for name, (files, _, _) in BROKEN_REPOSITORIES.items():
        write(folder, name, files)
    process = run(folder, *BROKEN_REPOSITORIES, "--triton", "24.09")
    for name, (_, _, sentence) in BROKEN_REPOSITORIES.items():
        assert f"{name}: {sentence}" in process.stdout.splitlines()
    assert process.returncode == 1


@pytest.fixture
def fleet_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(folder / "home"))
    monkeypatch.chdir(folder)
    return folder


def test_a_model_of_an_archive_that_was_not_tried_is_named_by_its_directory(
    fleet_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(fleet_home, "repository", PLAN)
    with tarfile.open("mine.tar.gz", "w:gz") as tar:
        tar.add("repository", ".")
    requested_target = RepositoryTarget(mode=Mode.MULTI_MODEL)
    assert list(run_findings([Path("mine.tar.gz")], requested_target, quiet=False)) == []
    sentence = f"not tried, as this machine lacks the backend: 'plan' (tensorrt); {VALIDATION_MESSAGE}"
    assert f"mine.tar.gz: {sentence}" in capsys.readouterr().out.splitlines()


def test_what_was_not_tried_is_printed_beside_a_report_for_machines(
    fleet_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(fleet_home, "plan", PLAN)
    assert list(run_findings([Path("plan")], RepositoryTarget(), quiet=True)) == []
    output = capsys.readouterr()
    assert "plan: not tried, as this machine lacks the backend: 'plan'" in " ".join(output.err.split())
    assert output.out == ""
