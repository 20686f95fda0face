"""Each version that is loaded has the file or folder that its backend looks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.model_configs import config_of, repository_of
from triton_fleet.findings import Finding
from triton_fleet.repository.model_files import missing_files

MODELS = Path("models")


def file_findings(
    backend: str,
    *paths: str,
    text: str = "",
    versions: tuple[str, ...] = ("1",),
    release: str | None = None,
    built_lines: tuple[str, ...] = (),
) -> list[Finding]:
    """Findings of model m whose files are named from its directory on."""
    contents = repository_of(*(f"m/{path}" for path in ("config.pbtxt", "1/", *paths)))
    return list(missing_files(config_of(text), backend, release, contents, "m", versions, built_lines))


def codes(findings: list[Finding]) -> list[str]:
    """Severity and code of each."""
    return [f"{finding.severity} {finding.code}" for finding in findings]


FOREST = 'parameters { key: "model_type" value { string_value: "%s" } }'
TENSORFLOW = 'platform: "tensorflow_%s"'


@pytest.mark.parametrize(
    ("backend", "path", "text"),
    [
        ("onnxruntime", "1/model.onnx", ""),
        ("onnxruntime", "1/model.onnx/model.onnx", ""),
        ("tensorrt", "1/model.plan", ""),
        ("pytorch", "1/model.pt", ""),
        ("pytorch", "1/model.pt2", 'platform: "torch_aoti"'),
        ("pytorch", "1/model.py", 'runtime: "model.py"'),
        ("pytorch", "1/model.pt", 'runtime: "model.py"'),
        ("python", "1/model.py", ""),
        ("openvino", "1/model.saved_model/saved_model.pb", 'default_model_filename: "model.saved_model"'),
        ("openvino", "1/model.tflite", 'default_model_filename: "model.tflite"'),
        ("tensorflow", "1/model.savedmodel/saved_model.pb", TENSORFLOW % "savedmodel"),
        ("tensorflow", "1/model.graphdef", TENSORFLOW % "graphdef"),
        ("tensorflow", "1/model.graphdef", ""),
        ("dali", "1/model.dali", ""),
        ("dali", "1/dali.py", 'default_model_filename: "pipeline.dali"'),
        ("fil", "1/xgboost.model", ""),
        ("fil", "1/xgboost.json", FOREST % "xgboost_json"),
        ("fil", "1/xgboost.ubj", FOREST % "xgboost_ubj"),
        ("fil", "1/model.txt", FOREST % "lightgbm"),
        ("fil", "1/checkpoint.tl", FOREST % "treelite_checkpoint"),
        ("fil", "1/forest/xgboost.model", 'default_model_filename: "forest"'),
        ("onnxruntime", "1/sub/bert.onnx", 'default_model_filename: "/sub/bert.onnx"'),
    ],
)
def test_each_backend_finds_its_file_and_nothing_else_will_do(backend: str, path: str, text: str) -> None:
    assert file_findings(backend, path, text=text) == []
    assert [
        code
        for code in codes(file_findings(backend, text=text))
        if code not in ("error FL456", "error FL410")
    ] == []
    assert len(file_findings(backend, text=text)) == 1


@pytest.mark.parametrize("backend", ["my_backend", "ensemble", "", "tensorrtllm", "identity"])
def test_what_somebodys_own_backend_needs_is_not_known(backend: str) -> None:
    assert file_findings(backend) == []


def test_the_missing_file_is_told_in_tritons_words() -> None:
    [finding] = file_findings("onnxruntime")
    assert finding.message == "unable to find 'm/1/model.onnx' for model 'm'"
    assert finding.file == MODELS / "m/1"
    assert finding.hint == "put the model there as model.onnx, or name it with `default_model_filename`"


def test_each_version_that_is_loaded_is_looked_into() -> None:
    findings = file_findings("tensorrt", "1/model.plan", "2/", "3/", versions=("3", "2", "1"))
    assert [finding.file for finding in findings] == [MODELS / "m/3", MODELS / "m/2"]
    assert file_findings("tensorrt", "1/model.plan", "2/") == []


def test_a_python_model_without_code_is_told_by_the_code_that_it_always_had() -> None:
    [finding] = file_findings("python", "1/main.py")
    assert (finding.code, finding.severity) == ("FL410", "error")
    assert finding.message.endswith("has no model.py in version 1, which is loaded: the load never ends")
    assert finding.hint == 'write `default_model_filename: "main.py"`, or rename it to model.py'
    text = 'default_model_filename: "sub/main.py"'
    assert codes(file_findings("python", "1/sub/main.py", text=text)) == ["error FL410"]


@pytest.mark.parametrize(
    ("backend", "paths", "hint"),
    [
        (
            "onnxruntime",
            ("1/bert.onnx", "1/vocab.txt"),
            'write `default_model_filename: "bert.onnx"`, or rename it to model.onnx',
        ),
        ("onnxruntime", ("1/a.onnx", "1/b.onnx"), "put the model there as model.onnx"),
        (
            "tensorflow",
            ("1/resnet.savedmodel/saved_model.pb",),
            'write `default_model_filename: "resnet.savedmodel"`',
        ),
        ("fil", ("1/xgboost.json",), 'xgboost.json is that of `model_type` "xgboost_json": write that'),
    ],
)
def test_what_looks_like_the_file_that_was_meant_is_named(
    backend: str, paths: tuple[str, ...], hint: str
) -> None:
    [finding] = file_findings(backend, *paths)
    assert finding.hint.startswith(hint)


def test_a_file_that_is_named_and_missing_is_told_where_it_is_named() -> None:
    [finding] = file_findings(
        "onnxruntime", "1/model.onnx", text='backend: "onnxruntime"\ndefault_model_filename: "x.onnx"'
    )
    assert (finding.code, finding.file, finding.line) == ("FL456", Path("m/config.pbtxt"), 2)
    assert finding.message == "unable to find 'm/1/x.onnx' for model 'm'"


def test_a_model_whose_engine_will_be_built_needs_none_yet() -> None:
    capability = 'cc_model_filenames { key: "8.6" value: "a10g.plan" }'
    assert file_findings("tensorrt", text=capability, built_lines=("m",)) == []
    assert codes(file_findings("tensorrt", built_lines=("other",))) == ["error FL456"]


@pytest.mark.parametrize(
    ("backend", "path", "text"),
    [
        ("tensorrt", "1/model.plan/x", ""),
        ("pytorch", "1/model.pt/", ""),
        ("tensorflow", "1/model.savedmodel", TENSORFLOW % "savedmodel"),
    ],
)
def test_a_file_is_no_folder(backend: str, path: str, text: str) -> None:
    assert codes(file_findings(backend, path, text=text)) == ["error FL457"]


def test_a_folder_for_onnx_runtime_holds_the_model() -> None:
    [finding] = file_findings("onnxruntime", "1/model.onnx/weights.bin")
    assert (finding.code, finding.message) == ("FL456", "unable to find 'm/1/model.onnx/model.onnx'")


def test_openvinos_weights_lie_beside_its_graph() -> None:
    assert codes(file_findings("openvino", "1/model.xml")) == ["warning FL456"]
    assert file_findings("openvino", "1/model.xml", "1/model.bin") == []


def test_a_file_for_one_compute_capability_may_stand_in_for_the_models_own() -> None:
    text = 'cc_model_filenames [ { key: "8.6" value: "a10g.plan" }, { key: "7.5" value: "t4.plan" } ]'
    findings = file_findings("tensorrt", "1/a10g.plan", text=text)
    assert codes(findings) == ["warning FL456"]
    assert (
        findings[0].message == "unable to find 'm/1/t4.plan', which is that of GPUs of compute capability 7.5"
    )
    assert codes(file_findings("tensorrt", text=text)) == ["error FL456", "warning FL456", "warning FL456"]


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("../shared/x.onnx", ["warning FL458"]),
        ("../x.onnx", ["warning FL458", "error FL456"]),
        ("../../../x.onnx", ["warning FL458"]),
    ],
)
def test_a_name_that_leads_out_of_the_version_directory_is_warned_of(name: str, weights: list[str]) -> None:
    text = f'default_model_filename: "{name}"'
    assert codes(file_findings("onnxruntime", "shared/x.onnx", text=text)) == weights


@pytest.mark.parametrize(
    ("release", "weights"), [("25.06", []), ("25.07", ["error FL458"]), (None, ["error FL458"])]
)
def test_dali_takes_only_plain_names(release: str | None, weights: list[str]) -> None:
    findings = file_findings("dali", "1/a/b.dali", text='default_model_filename: "a/b.dali"', release=release)
    assert codes(findings) == weights
    assert all("'a/b.dali' contains an invalid character: '/'" in finding.message for finding in findings)


def test_a_file_that_the_release_does_not_look_for_yet_is_none() -> None:
    assert codes(file_findings("dali", "1/dali.py", release="22.05")) == ["error FL456"]
    assert file_findings("dali", "1/dali.py", release="22.07") == []


def test_an_unknown_kind_of_forest_has_no_file_to_miss() -> None:
    assert file_findings("fil", text=FOREST % "catboost") == []
