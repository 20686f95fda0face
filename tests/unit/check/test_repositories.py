"""`fleet check` of model repositories: files, folders and archives, by path, outside of any fleet."""

from __future__ import annotations

import json
import os
import tarfile
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.repository_contents import ensemble, model
from tests.support.typed_command import fleet
from triton_fleet.check.repositories import RepositoryTarget, is_repository, named_findings
from triton_fleet.findings import Finding, Severity
from triton_fleet.spec.endpoint import Mode

TARGET = RepositoryTarget(release="25.04")
MULTI_MODEL = replace(TARGET, mode=Mode.MULTI_MODEL)


def write_files(folder: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        file = folder / path
        (file if path.endswith("/") else file.parent).mkdir(parents=True, exist_ok=True)
        if not path.endswith("/"):
            file.write_text(text)
    return folder


def pack_folder(folder: Path, name: str) -> Path:
    file = folder.parent / name
    with tarfile.open(file, "w:gz") as archive:
        archive.add(folder, ".")
    return file


def errors(paths: list[Path], requested_target: RepositoryTarget = TARGET) -> list[Finding]:
    return [
        finding for finding in named_findings(paths, requested_target) if finding.severity is Severity.ERROR
    ]


def test_a_healthy_repository_is_clean_as_a_folder_and_as_an_archive(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "models", {**model("a"), "README.md": "ours"})
    archive = pack_folder(folder, "models.tar.gz")
    process = fleet(
        tmp_path, "check", "models", "models.tar.gz", "--mode", "multi-model", "--triton", "25.04"
    )
    assert (process.returncode, process.stdout) == (0, "no findings in models, models.tar.gz\n")
    assert named_findings([folder, archive], MULTI_MODEL) == []


def test_a_configuration_alone_is_told_with_line_and_excerpt(tmp_path: Path) -> None:
    (tmp_path / "resnet.pbtxt").write_text('backend: "python"\nmax_batch_size: many\n')
    process = fleet(tmp_path, "check", "resnet.pbtxt")
    assert process.returncode == 1
    assert process.stderr.splitlines()[:4] == [
        "resnet.pbtxt:2:17: error[malformed-model-config] FL415: Expected integer, got: many",
        "  2 | max_batch_size: many",
        "    |                 ^^^^",
        "  hint: write a whole number",
    ]


def test_findings_are_printed_for_programs_as_well(tmp_path: Path) -> None:
    (tmp_path / "resnet.pbtxt").write_text("max_batch_size: -1\n")
    document = json.loads(fleet(tmp_path, "check", "resnet.pbtxt", "--format", "json").stdout)
    assert "FL421" in json.dumps(document)


@pytest.mark.parametrize(
    "arguments",
    [
        ["resnet.pbtxt", "--triton", "25"],
        ["resnet.pbtxt", "--instance", "ml.g5.xlagre"],
        ["resnet.pbtxt", "--mode", "multi-model", "--default-model", "a"],
        ["--env", "dev", "--triton", "25.04"],
    ],
)
def test_options_that_name_nothing_exit_with_2(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "resnet.pbtxt").write_text("")
    assert fleet(tmp_path, "check", *arguments).returncode == 2


def test_an_entry_of_an_archive_is_named_below_it(tmp_path: Path) -> None:
    broken_path = write_files(tmp_path / "models", model("a", "instance_group { kind: KIND_CPU gpus: 0 }\n"))
    (finding,) = errors([pack_folder(broken_path, "a.tar.gz")])
    assert finding.place.endswith("a.tar.gz/a/config.pbtxt:5:33")


def test_a_folder_of_configurations_alone_is_judged_file_by_file(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "configs", {"a.pbtxt": "max_batch_size: -1\n", "b.pbtxt": "x: 1\n"})
    assert [(finding.file and finding.file.name, finding.code) for finding in errors([folder])] == [
        ("a.pbtxt", "FL421"),
        ("b.pbtxt", "FL415"),
    ]


def test_a_folder_of_specs_is_no_repository(tmp_path: Path) -> None:
    assert not is_repository(write_files(tmp_path / "specs", {"a.yaml": "endpoint: a\n"}))
    assert not is_repository(write_files(tmp_path / "empty", {"x/": ""}) / "x")
    assert is_repository(write_files(tmp_path / "models", model("a")))


def test_a_release_that_gave_the_backend_up_is_told_at_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "old.pbtxt").write_text('platform: "tensorflow_savedmodel"\n')
    assert [finding.code for finding in errors([tmp_path / "old.pbtxt"])] == ["FL254"]
    assert errors([tmp_path / "old.pbtxt"], RepositoryTarget(release="24.09")) == []
    assert errors([tmp_path / "old.pbtxt"], RepositoryTarget()) == []


@pytest.mark.parametrize("backend", ["vllm", "tensorrtllm"])
@pytest.mark.parametrize("requested_target", [RepositoryTarget(), RepositoryTarget(release="24.09")])
def test_a_backend_that_no_image_has_is_an_error_at_its_line(
    tmp_path: Path, backend: str, requested_target: RepositoryTarget
) -> None:
    (tmp_path / "llm.pbtxt").write_text(f'name: "llm"\nbackend: "{backend}"\n')
    (finding,) = named_findings([tmp_path / "llm.pbtxt"], requested_target)
    assert (finding.code, finding.severity, finding.line) == ("FL476", Severity.ERROR, 2)
    assert f"unable to find backend library for backend '{backend}'" in finding.message
    assert "an image of your own" in finding.hint


def test_an_instance_without_a_gpu_is_told_at_the_configuration_that_wants_one(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "models", model("a", "instance_group { kind: KIND_GPU }\n"))
    (finding,) = errors([folder], RepositoryTarget(instance="ml.c5.xlarge"))
    assert (finding.code, finding.file, finding.line) == ("FL253", folder / "a" / "config.pbtxt", 5)
    assert errors([folder], RepositoryTarget(instance="ml.g5.xlarge")) == []


IMAGE_TENSOR = "max_batch_size: 0\ninput { name: 'x' data_type: TYPE_FP32 dims: [3, 2048, 2048] }\n"
SMALL_TENSOR = "max_batch_size: 0\ninput { name: 'x' data_type: TYPE_FP32 dims: [8] }\n"


def test_a_request_that_is_too_large_is_told_at_the_inputs_of_the_model_that_is_called(
    tmp_path: Path,
) -> None:
    (tmp_path / "large.pbtxt").write_text(f'name: "large"\n{IMAGE_TENSOR}')
    (finding,) = [
        finding for finding in named_findings([tmp_path / "large.pbtxt"], TARGET) if finding.code == "FL260"
    ]
    assert (finding.severity, finding.line) == (Severity.ERROR, 3)


@pytest.mark.parametrize("requested_target", [replace(MULTI_MODEL), replace(TARGET, default_model="whole")])
def test_what_an_ensemble_passes_to_its_composing_models_is_no_request(
    tmp_path: Path, requested_target: RepositoryTarget
) -> None:
    step = "step { model_name: 'part' model_version: -1 }"
    files = {
        "part/config.pbtxt": f'backend: "python"\n{IMAGE_TENSOR}',
        "part/1/model.py": "",
        "whole/config.pbtxt": f'platform: "ensemble"\n{SMALL_TENSOR}ensemble_scheduling {{ {step} }}\n',
        "whole/1/": "",
    }
    findings = named_findings([write_files(tmp_path / "models", files)], requested_target)
    assert "FL260" not in {finding.code for finding in findings}


def test_a_rule_that_takes_a_model_alone_needs_neither_a_release_nor_an_instance(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "models", model("a", "instance_group { kind: KIND_GPU gpus: [0] }\n"))
    (finding,) = named_findings([folder], RepositoryTarget(mode=Mode.MULTI_MODEL))
    assert (finding.code, finding.file, finding.line) == ("FL261", folder / "a" / "config.pbtxt", 5)


def test_a_default_model_may_be_named(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "models", {**model("a"), **model("b")})
    assert [finding.code for finding in errors([folder])] == ["FL460"]
    assert errors([folder], replace(TARGET, default_model="b")) == []


def test_models_of_one_name_in_two_archives_exclude_each_other_before_namespaces(tmp_path: Path) -> None:
    parts = {**ensemble("a"), **model("a")}
    first_path, two = (write_files(tmp_path / name, parts) for name in ("one", "two"))
    findings = [
        finding for finding in named_findings([first_path, two], MULTI_MODEL) if finding.code == "FL466"
    ]
    assert {finding.severity for finding in findings} == {Severity.WARNING}
    assert {finding.code for finding in errors([first_path, two], replace(MULTI_MODEL, release="23.03"))} == {
        "FL466"
    }


@pytest.mark.parametrize("name", ["", 'name: "../x" '])
def test_a_configuration_without_a_name_of_a_model_is_judged_by_what_it_has(
    tmp_path: Path, name: str
) -> None:
    file = tmp_path / "config.pbtxt"
    file.write_text(name + 'backend: "vllm"')
    assert "FL476" in {finding.code for finding in named_findings([file], RepositoryTarget(release="25.04"))}


def test_a_pipe_that_is_called_a_configuration_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.pbtxt")
    assert [finding.code for finding in errors([tmp_path / "pipe.pbtxt"])] == ["FL406"]


def test_an_archive_whose_name_reads_like_a_lack_of_memory_is_refused(tmp_path: Path) -> None:
    archive = pack_folder(write_files(tmp_path / "models", model("a")), "HOTEL_ROOMS.tar.gz")
    assert [finding.code for finding in errors([archive], MULTI_MODEL)] == ["FL467"]
    assert errors([archive]) == []


def test_what_is_not_there_and_what_is_no_archive_are_told(tmp_path: Path) -> None:
    (tmp_path / "text.tar.gz").write_text("no archive")
    assert [finding.code for finding in errors([tmp_path / "gone.tar.gz", tmp_path / "text.tar.gz"])] == [
        "FL401",
        "FL440",
    ]
    assert [finding.code for finding in errors([tmp_path / "gone.pbtxt"])] == ["FL406"]


def test_a_model_at_the_root_of_an_archive_is_held_against_the_instance_too(tmp_path: Path) -> None:
    parts = {
        path.removeprefix("a/"): text
        for path, text in model("a", "instance_group { kind: KIND_GPU }\n").items()
    }
    archive = pack_folder(write_files(tmp_path / "model", parts), "a.tar.gz")
    (finding,) = errors([archive], RepositoryTarget(mode=Mode.MULTI_MODEL, instance="ml.c5.xlarge"))
    assert finding.place.endswith("a.tar.gz/config.pbtxt:5:1")


def test_without_a_release_nothing_is_said_of_the_image(tmp_path: Path) -> None:
    (tmp_path / "old.pbtxt").write_text('platform: "tensorflow_savedmodel"\n')
    assert errors([tmp_path / "old.pbtxt"], RepositoryTarget(instance="ml.g5.xlarge")) == []


def test_a_repository_with_a_yaml_file_of_its_own_is_one(tmp_path: Path) -> None:
    assert is_repository(write_files(tmp_path / "models", {**model("a"), "dvc.yaml": "stages: {}\n"}))


def test_hidden_folders_do_not_make_a_folder_of_configurations_a_repository(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "configs", {"a.pbtxt": "max_batch_size: -1\n", ".git/": ""})
    assert [finding.code for finding in errors([folder])] == ["FL421"]


def test_a_path_that_leads_nowhere_is_told_beside_what_is_found_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "resnet.pbtxt").write_text("max_batch_size: -1\n")
    (tmp_path / "models.zip").write_text("")
    (tmp_path / "empty").mkdir()
    process = fleet(tmp_path, "check", "nowhere", "models.zip", "empty", "resnet.pbtxt")
    assert process.returncode == 1
    report = [line.partition(": ")[2] for line in process.stderr.splitlines() if ": error[" in line]
    assert report == [
        "error[uncheckable-path] FL126: 'empty' contains nothing to check",
        "error[uncheckable-path] FL126: 'models.zip' contains nothing to check",
        "error[uncheckable-path] FL126: 'nowhere' does not exist",
        "error[invalid-batch-size] FL421: 'max_batch_size' must be non-negative value for resnet",
    ]


def test_machines_are_told_of_an_entry_at_its_archive(tmp_path: Path) -> None:
    broken_path = write_files(tmp_path / "models", model("a", "instance_group { kind: KIND_CPU gpus: 0 }\n"))
    pack_folder(broken_path, "a.tar.gz")
    process = fleet(tmp_path, "check", "a.tar.gz", "--format", "github")
    assert process.stdout.startswith(
        "::error file=a.tar.gz,line=1,title=invalid-instance-group (FL425)::a/config.pbtxt:5:33: "
    )
