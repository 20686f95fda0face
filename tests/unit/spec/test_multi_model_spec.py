"""A multi-model endpoint: a prefix of archives, each a target that callers name."""

from __future__ import annotations

import hashlib

import pytest

from tests.support.fleet_folder import FleetFolder
from triton_fleet.findings import FindingsError
from triton_fleet.project.project import open_project
from triton_fleet.spec.endpoint import Mode
from triton_fleet.store.lock import write_locks

ZOO = """\
endpoint: zoo
mode: multi-model
triton: "25.04"
instance: {type: ml.g5.xlarge}
models:
  - {archive: cats, repository: ../repository/cats}
  - {archive: dogs, repository: ../repository/dogs}
"""
DIGESTS = {"cats": "sha256:" + "1" * 64, "dogs": "sha256:" + "2" * 64}
BUCKET = "s3://triton-fleet-dev-111122223333-us-east-1/"


@pytest.fixture
def zoo(folder: FleetFolder) -> FleetFolder:
    """A fleet whose one endpoint is a multi-model endpoint without findings."""
    (folder.root / "model_specs/sentences.yaml").unlink()
    folder.spec(name="zoo", base=ZOO)
    lock(folder, DIGESTS)
    return folder


def lock(folder: FleetFolder, digests: dict[str, str]) -> None:
    lines = [
        f'  {name}: {{digest: "{digest}", size: 1, models: [{name}]}}\n' for name, digest in digests.items()
    ]
    folder.write("locks/dev/zoo.lock.yaml", "endpoint: zoo\narchives:\n" + "".join(lines))


def live(version: str = "version: 1, ") -> str:
    return ZOO.replace("triton:", "archive_set: live\ntriton:").replace(
        "repository:", f"{version}repository:"
    )


def test_a_locked_sets_prefix_is_named_by_its_content_and_its_targets_are_stable(zoo: FleetFolder) -> None:
    endpoint = zoo.resolve()
    lines = "".join(f"{name} {digest}\n" for name, digest in DIGESTS.items())
    prefix = f"endpoints/zoo/{hashlib.sha256(lines.encode()).hexdigest()}/"
    assert (endpoint.spec.mode, endpoint.model_data_url) == (Mode.MULTI_MODEL, f"{BUCKET}{prefix}")
    assert [archive.key for archive in endpoint.archives] == [f"{prefix}cats.tar.gz", f"{prefix}dogs.tar.gz"]


def test_another_archive_is_another_prefix_and_another_order_is_not(zoo: FleetFolder) -> None:
    before = zoo.resolve().model_data
    first, second = ZOO.splitlines(keepends=True)[-2:]
    zoo.spec(name="zoo", base=ZOO.replace(first + second, second + first))
    assert zoo.resolve().model_data == before
    lock(zoo, DIGESTS | {"dogs": "sha256:" + "3" * 64})
    assert zoo.resolve().model_data != before


def test_a_live_set_keeps_its_prefix_and_its_targets_carry_a_version(zoo: FleetFolder) -> None:
    zoo.spec(name="zoo", base=live())
    before = zoo.resolve()
    assert before.model_data == "endpoints/zoo/live/"
    assert before.archives[0].key == "endpoints/zoo/live/cats-v1.tar.gz"
    lock(zoo, DIGESTS | {"dogs": "sha256:" + "3" * 64})
    assert zoo.resolve().model_data == before.model_data


def test_a_live_set_may_be_empty_at_first(zoo: FleetFolder) -> None:
    zoo.spec(name="zoo", base=live().partition("models:")[0] + "models: []\n")
    assert zoo.resolve().archives == ()


def test_the_container_is_live_whatever_one_model_does_and_has_no_default_model(zoo: FleetFolder) -> None:
    variables = zoo.resolve().variables
    assert variables["SAGEMAKER_TRITON_PING_MODE"] == "live"
    assert variables["SAGEMAKER_TRITON_OVERRIDE_PING_MODE"] == "live"
    assert "SAGEMAKER_TRITON_DEFAULT_MODEL_NAME" not in variables
    assert "SAGEMAKER_MULTI_MODEL" not in variables


@pytest.mark.parametrize(
    ("text", "code", "line", "message"),
    [
        ("default_model: cats\n", "FL215", 8, "`default_model` has no effect on a multi-model endpoint"),
        ("container: {inference_type: generate}\n", "FL210", 8, "`inference_type` has no effect"),
        (
            "environment: {SAGEMAKER_TRITON_DISABLE_MODEL_NAMESPACING: 'False'}\n",
            "FL239",
            8,
            "turns namespaces off",
        ),
        (
            "environment: {SAGEMAKER_TRITON_DEFAULT_MODEL_NAME: cats}\n",
            "FL215",
            8,
            "which a multi-model endpoint does not load",
        ),
        ("container: {additional_args: [--load-model=cats]}\n", "FL217", 8, "--load-model=cats"),
        ("container: {additional_args: [--model-namespacing=false]}\n", "FL217", 8, "does not work"),
        ("environment: {SAGEMAKER_TRITON_PING_MODE: ready}\n", "FL207", 8, "which another key of the spec"),
    ],
)
def test_what_only_a_single_model_has_is_refused(
    zoo: FleetFolder, text: str, code: str, line: int, message: str
) -> None:
    zoo.spec(text, name="zoo", base=ZOO)
    (finding,) = zoo.findings()
    assert (finding.code, finding.line) == (code, line)
    assert message in finding.message


@pytest.mark.parametrize(
    ("spec", "code", "line", "message"),
    [
        (ZOO.replace("g5.xlarge", "g5.12xlarge"), "FL216", 4, "ml.g5.12xlarge has 4 GPUs"),
        (ZOO.replace("archive: cats,", "archive: cats, version: 1,"), "FL213", 6, "has a version"),
        (live(version=""), "FL213", 7, "has no version"),
        (ZOO.replace("multi-model", "single"), "FL112", 5, "serves one model repository, not 2"),
        (ZOO.replace("dogs,", "cats,"), "FL112", 5, "two archives are named 'cats'"),
        (ZOO.partition("models:")[0] + "models: []\n", "FL112", 5, "has at least one"),
    ],
)
def test_a_spec_that_contradicts_its_mode_is_refused(
    zoo: FleetFolder, spec: str, code: str, line: int, message: str
) -> None:
    zoo.spec(name="zoo", base=spec)
    finding = zoo.findings()[0]
    assert (finding.code, finding.line) == (code, line)
    assert message in finding.message


@pytest.mark.parametrize(
    ("archive", "word"),
    [("HOTEL-ROOMS", "OOM"), ("MemoryErrors", "MemoryError"), ("a-OutOfMemory-b", "OutOfMemory")],
)
def test_a_name_by_which_triton_would_tell_out_of_memory_is_refused(
    zoo: FleetFolder, archive: str, word: str
) -> None:
    zoo.spec(name="zoo", base=ZOO.replace("archive: cats", f"archive: {archive}"))
    lock(zoo, {archive: DIGESTS["cats"], "dogs": DIGESTS["dogs"]})
    (finding,) = zoo.findings()
    assert (finding.code, finding.line) == ("FL214", 6)
    assert f"{archive!r} contains {word!r}" in finding.message


def test_a_single_endpoint_has_no_live_set(folder: FleetFolder) -> None:
    folder.spec("archive_set: live\n")
    (finding,) = folder.findings()
    assert (finding.code, finding.line) == ("FL212", 6)


def test_limits_of_this_machine_belong_into_the_local_environment(folder: FleetFolder) -> None:
    folder.environment("local: {model_memory: 512MiB}\n")
    (finding,) = folder.findings()
    assert finding.line == 4
    assert "it belongs only in environments/local.yaml" in finding.message
    folder.environment()
    folder.environment("local: {model_memory: 512MiB, model_disk: 4GiB}\n", name="local")
    local = open_project(folder.root, "local").environment.local
    assert local is not None
    assert (local.model_memory, local.model_disk) == (512 << 20, 4 << 30)


def write_models(zoo: FleetFolder, archive: str, **configs: str) -> None:
    for name, config in configs.items():
        zoo.write(f"repository/{archive}/{name}/config.pbtxt", config)
        (zoo.root / f"repository/{archive}/{name}/1").mkdir()
        if config == PYTHON:
            zoo.write(f"repository/{archive}/{name}/1/model.py", "x = 1\n")


ENSEMBLE = 'platform: "ensemble"'
PYTHON = 'backend: "python"'


def test_an_ensemble_and_its_models_are_one_archive(zoo: FleetFolder) -> None:
    write_models(zoo, "cats", all=ENSEMBLE, first=PYTHON, second=PYTHON)
    write_models(zoo, "dogs", dogs=PYTHON)
    assert len(write_locks(open_project(zoo.root, "dev"))) == 1
    assert zoo.findings() == []


@pytest.mark.parametrize(
    ("configs", "message"),
    [
        ({"a": PYTHON, "b": PYTHON}, "FL408: the archive contains 2 models and no ensemble, a, b"),
        ({"a": "platform : 'ensemble'", "b": PYTHON}, "FL468: the container does not see that"),
        ({"a": ENSEMBLE, "b": ENSEMBLE, "c": PYTHON}, "FL409: the archive contains 2 ensembles, a, b"),
    ],
)
def test_an_archive_of_which_any_model_might_answer_is_not_locked(
    zoo: FleetFolder, configs: dict[str, str], message: str
) -> None:
    write_models(zoo, "cats", **configs)
    write_models(zoo, "dogs", dogs=PYTHON)
    with pytest.raises(FindingsError, match=message) as refusal:
        write_locks(open_project(zoo.root, "dev"))
    file = refusal.value.findings[0].file
    assert file is not None and file.is_relative_to(zoo.root / "repository/cats")


@pytest.mark.parametrize(
    ("config", "files", "missing_text"),
    [
        (PYTHON, ["1/model.txt"], "model.py"),
        (PYTHON, ["1/model.py", "2/notes"], "model.py"),
        (f'{PYTHON}\ndefault_model_filename: "main.py"', ["1/model.py"], "main.py"),
        ("backend: 'python' # code to come", ["1/model.txt"], "model.py"),
    ],
)
def test_a_python_model_without_its_code_is_not_locked(
    zoo: FleetFolder, config: str, files: list[str], missing_text: str
) -> None:
    zoo.write("repository/cats/cats/config.pbtxt", config)
    for file in files:
        zoo.write(f"repository/cats/cats/{file}", "x = 1\n")
    write_models(zoo, "dogs", dogs=PYTHON)
    with pytest.raises(
        FindingsError, match=f"FL410: model 'cats' uses the Python backend and has no {missing_text}"
    ):
        write_locks(open_project(zoo.root, "dev"))
    zoo.write(f"repository/cats/cats/10/{missing_text}", "x = 1\n")
    assert len(write_locks(open_project(zoo.root, "dev"))) == 1


def test_with_a_version_policy_the_code_may_be_in_any_version(zoo: FleetFolder) -> None:
    zoo.write(
        "repository/cats/cats/config.pbtxt", f"{PYTHON} version_policy {{ specific {{ versions: 1 }} }}"
    )
    zoo.write("repository/cats/cats/1/model.py", "x = 1\n")
    zoo.write("repository/cats/cats/2/notes", "x")
    write_models(zoo, "dogs", dogs=PYTHON)
    assert len(write_locks(open_project(zoo.root, "dev"))) == 1


def test_a_comment_makes_no_python_model(zoo: FleetFolder) -> None:
    zoo.write("repository/cats/cats/config.pbtxt", f'platform: "onnxruntime_onnx" # not {PYTHON}\n')
    zoo.write("repository/cats/cats/1/model.onnx", "x")
    write_models(zoo, "dogs", dogs=PYTHON)
    assert len(write_locks(open_project(zoo.root, "dev"))) == 1
