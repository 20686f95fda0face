"""Problems of the code of Python models, as far as it tells without being run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.repository_contents import (
    MULTI_MODEL,
    SINGLE,
    ensemble,
    errors,
    judgement,
    model,
    warnings,
)

NAMED_ENTRY = replace(SINGLE, default_model="both")
CALL = 'pb_utils.InferenceRequest(model_name="{}", requested_output_names=["y"], inputs=[])\n'


def test_a_python_model_completes_what_it_leaves_out_only_by_its_own_function() -> None:
    config = 'backend: "python"\ninput { name: "x" data_type: TYPE_FP32 }\n'
    without = {"a/config.pbtxt": config, "a/1/model.py": "class TritonPythonModel:\n  pass\n"}
    with_function = {
        **without,
        "a/1/model.py": "class TritonPythonModel:\n  def auto_complete_config(c): ...\n",
    }
    assert [finding.line for finding in errors(without)] == [2]
    assert errors(with_function) == []


@pytest.mark.parametrize(
    "code",
    [
        "from impl import *",
        "from impl import TritonPythonModel",
        "import impl\nclass TritonPythonModel(impl.Base): pass",
        "class TritonPythonModel: pass\nsetattr(TritonPythonModel, 'auto_complete_config', print)",
        "class TritonPythonModel:\n  auto_complete_config = staticmethod(print)",
    ],
)
def test_a_class_that_comes_from_elsewhere_may_complete_anything(code: str) -> None:
    config = 'backend: "python"\ninput { name: "x" data_type: TYPE_FP32 }\n'
    assert errors({"a/config.pbtxt": config, "a/1/model.py": code}) == []
    empty = {"a/config.pbtxt": 'backend: "python"\n', "a/1/model.py": code}
    assert errors({**ensemble("a"), **empty}, NAMED_ENTRY) == []


@pytest.mark.parametrize("name", ["a b", "a&b", "m'x", "m$HOME", "*"])
def test_a_python_model_is_not_called_as_a_shell_would_read_it(name: str) -> None:
    assert "FL405" in {finding.code for finding in errors(model(name), MULTI_MODEL)}
    assert errors(model("a-b=c,d~e"), MULTI_MODEL) == []


def test_a_model_that_code_calls_has_to_be_loaded_by_a_flag() -> None:
    calling_models = {**model("a", code="import json\n" + CALL.format("b")), **model("b")}
    setting = replace(SINGLE, default_model="a")
    findings = [finding for finding in warnings(calling_models, setting) if finding.code == "FL462"]
    assert [(finding.line, finding.hint) for finding in findings] == [
        (2, "add `--load-model=b` to `container.additional_args` of the endpoint's spec")
    ]
    assert warnings(calling_models, replace(setting, further=frozenset({"b"}))) == []


def test_code_may_load_what_it_calls_by_itself() -> None:
    code = 'pb_utils.load_model(model_name="b")\n' + CALL.format("b")
    assert judgement(
        {**model("a", code=code), **model("b")}, replace(SINGLE, default_model="a")
    ).unloaded_models == ("b",)
    findings = warnings({**model("a", code=code), **model("b")}, replace(SINGLE, default_model="a"))
    assert [finding.code for finding in findings] == ["FL461"]


def test_a_call_of_a_model_that_is_not_there_is_told() -> None:
    (finding,) = warnings(model("a", code=CALL.format("gone")))
    assert "which the repository does not have" in finding.message


def test_a_call_from_a_version_that_is_not_loaded_is_not_told() -> None:
    old = {"a/1/old.py": CALL.format("gone"), "a/2/model.py": ""}
    assert warnings({**model("a"), **old}) == []


def test_a_helper_file_may_load_what_the_model_calls() -> None:
    helper = {"a/1/helper.py": 'pb_utils.load_model("b")\n'}
    findings = warnings(
        {**model("a", code=CALL.format("b")), **model("b"), **helper}, replace(SINGLE, default_model="a")
    )
    assert [finding.code for finding in findings] == ["FL461"]


def test_code_without_the_backends_class_is_refused() -> None:
    (finding,) = errors(model("a", code="import numpy\nclass Model: pass\n"))
    assert (finding.code, finding.message) == (
        "FL470",
        "module '1.model' has no attribute 'TritonPythonModel'",
    )
    for code in (
        "from impl import Model as TritonPythonModel",
        "TritonPythonModel = make()",
        "from impl import *",
    ):
        assert errors(model("a", code=code)) == []
