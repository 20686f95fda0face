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

from broken_repositories import (
    DOUBLE,
    ENSEMBLE,
    PLAN,
    SCALE,
    TENSORS,
    Case,
    Files,
    changed,
    graph,
    moved,
)
from fleet.check.target import RepositoryTarget
from fleet.local.triton.runtime import TritonRuntime
from fleet.local.try_load import findings, load_in_triton

pytestmark = [pytest.mark.triton, pytest.mark.usefixtures("runtime")]

VALIDATED = "Triton 24.10 validated its configuration alone"


def zipped(*names: str) -> bytes:
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
NET: Files = moved(changed(SCALE, "scale/config.pbtxt", ('"scale"', '"net"')), "scale/", "net/")
TORCHSCRIPT = zipped("net/data.pkl", "net/constants.pkl", "net/code/__torch__.py")
BROKEN: Mapping[str, tuple[Files, tuple[str, ...], str]] = {
    "too-new": (
        {**NET, "net/1/model.onnx": graph(["n", 2], ir_version=11)},
        ("--triton", "24.09"),
        "a stand-in for ONNX Runtime's backend, as Triton 24.09 has it, does not load it: onnx runtime error 1:"
        " Load model from net/1/model.onnx failed:Unsupported model IR version: 11, max supported IR version: 10",
    ),
    "state-dict": (
        model("weights", "pytorch", "model.pt", zipped("archive/data.pkl", "archive/data/0")),
        (),
        "not tried, and cannot be loaded: weights/1/model.pt: PytorchStreamReader failed locating file"
        " constants.pkl: file not found: it is not TorchScript, but weights or a pickled module",
    ),
    "llama": (
        model("llama", "vllm", "model.json", b"{}"),
        (),
        "Triton 24.10 does not load it: model 'llama' failed to load: unable to find backend library for backend"
        " 'vllm', try specifying runtime on the model configuration.",
    ),
    "gpt": (
        model("gpt", "tensorrtllm"),
        ("--mode", "multi-model"),
        "Triton 24.10 does not load it: unable to find backend library for backend 'tensorrtllm', try"
        " specifying runtime on the model configuration.",
    ),
    "forest": (
        model("forest", "fil", "xgboost.json", b'{"learner": ', FOREST),
        (),
        "not tried, and cannot be loaded: forest/1/xgboost.json: it is not JSON: line 1, column 13: Expecting"
        " value",
    ),
}
"""Repositories that no container loads: what is asked, and the line that is printed of each."""
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
        f"not tried, as this machine lacks the backend: 'plan' (tensorrt); {VALIDATED}",
    ),
    "torchscript": (
        model("net", "pytorch", "model.pt", TORCHSCRIPT),
        RepositoryTarget(),
        f"not tried, as this machine lacks the backend: 'net' (pytorch); {VALIDATED}",
    ),
    "forest": (
        model("forest", "fil", "xgboost.json", b'{"learner": {}, "version": [1, 7, 6]}', FOREST),
        RepositoryTarget(),
        f"not tried, as this machine lacks the backend: 'forest' (fil); {VALIDATED}",
    ),
    "own": (
        model("mine", "mine"),
        RepositoryTarget(),
        (
            "not tried, as this machine lacks the backend: 'mine' (mine, which the model or an image of your own"
            f" has to bring); {VALIDATED}"
        ),
    ),
    "partly": (
        {**ENSEMBLE, **moved(changed(PLAN, "plan/config.pbtxt", ('"plan"', '"scale"')), "plan/", "scale/")},
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
"""Repositories of which nothing is known to be wrong, and what is printed of them."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "home").mkdir()
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "fleet"), "check", "--run", *arguments]
    environment = {"HOME": str(folder / "home"), "PATH": "/usr/bin:/bin", "TMPDIR": str(folder)}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr
    return done


def write(folder: Path, name: str, files: Files) -> None:
    Case(id="", files=files, changed="").write(folder / name)


@pytest.mark.parametrize("name", BROKEN)
def test_a_repository_that_no_container_loads_fails_with_the_sentence_that_is_true(
    folder: Path, name: str
) -> None:
    files, options, sentence = BROKEN[name]
    write(folder, name, files)
    done = run(folder, name, *options)
    assert f"{name}: {sentence}" in done.stdout.splitlines()
    assert "loads it" not in done.stdout
    assert done.returncode == 1


@pytest.mark.parametrize("name", HEALTHY)
def test_what_loaded_each_part_of_a_repository_is_named(
    folder: Path, runtime: TritonRuntime, name: str
) -> None:
    files, asked, sentence = HEALTHY[name]
    write(folder, name, files)
    answer = load_in_triton(
        folder / name,
        runtime,
        mode=asked.mode,
        default_model=asked.default_model or "",
        release=asked.release,
    )
    assert answer.lines()[0] == sentence
    assert findings(answer) == []


@pytest.mark.nightly
def test_the_five_that_no_container_loads_fail_in_one_command(folder: Path) -> None:
    for name, (files, _, _) in BROKEN.items():
        write(folder, name, files)
    done = run(folder, *BROKEN, "--triton", "24.09")
    for name, (_, _, sentence) in BROKEN.items():
        assert f"{name}: {sentence}" in done.stdout.splitlines()
    assert done.returncode == 1


def test_an_archive_is_named_by_its_model_where_it_was_not_tried(folder: Path) -> None:
    write(folder, "repository", PLAN)
    with tarfile.open(folder / "mine.tar.gz", "w:gz") as tar:
        tar.add(folder / "repository", ".")
    done = run(folder, "mine.tar.gz", "--mode", "multi-model")
    sentence = f"not tried, as this machine lacks the backend: 'plan' (tensorrt); {VALIDATED}"
    assert f"mine.tar.gz: {sentence}" in done.stdout.splitlines()
    assert done.returncode == 0


def test_what_was_not_tried_is_said_beside_a_report_for_machines(folder: Path) -> None:
    write(folder, "plan", PLAN)
    done = run(folder, "plan", "--format", "json")
    assert "plan: not tried, as this machine lacks the backend: 'plan'" in done.stderr
    assert "not tried" not in done.stdout
