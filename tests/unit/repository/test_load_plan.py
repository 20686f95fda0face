"""Problems of the models of a repository: versions, names, files, and how an ensemble fits its parts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.repository_contents import (
    MULTI_MODEL,
    SINGLE,
    contents,
    ensemble,
    errors,
    judgement,
    model,
    tensors,
    warnings,
)
from triton_fleet.findings import Severity
from triton_fleet.repository.loading.load_plan import plan_load

NAMED_ENTRY = replace(SINGLE, default_model="both")
TWO_ENTRIES = {**ensemble("a", "b"), **model("a"), **model("b")}


def replace_in_file(path: str, old: str, new: str) -> dict[str, str]:
    assert old in TWO_ENTRIES[path]
    return {**TWO_ENTRIES, path: TWO_ENTRIES[path].replace(old, new)}


def messages(files: dict[str, str]) -> list[str]:
    return [finding.message for finding in errors(files, NAMED_ENTRY)]


def test_a_healthy_ensemble_has_no_findings() -> None:
    assert judgement(TWO_ENTRIES, NAMED_ENTRY).findings == ()


@pytest.mark.parametrize("folder", ["a/01/model.py", "a/v1/model.py"])
def test_a_model_without_a_version_that_counts_is_refused(folder: str) -> None:
    findings = errors({"a/config.pbtxt": 'backend: "python"\n', folder: ""})
    assert (
        "at least one version must be available under the version policy of model 'a'" in findings[0].message
    )


@pytest.mark.parametrize("config", [{"a/config.pbtxt": 'backend: "python"\n'}, {}])
@pytest.mark.parametrize("name", ["v1", "V1", "version-1", "ver_1"])
def test_a_folder_with_the_number_of_the_missing_version_is_to_be_renamed(
    name: str, config: dict[str, str]
) -> None:
    (finding,) = errors({**config, f"a/{name}/model.py": ""})
    reason = "Triton ignores it, as the name of a version is its number alone"
    assert (finding.code, finding.hint) == ("FL404", f"rename {name} to 1: {reason}")


@pytest.mark.parametrize(("name", "hint"), [("v1", "remove it"), ("v2", "rename it to 2 to have it served")])
def test_a_folder_beside_the_versions_that_only_looks_like_one_is_ignored(name: str, hint: str) -> None:
    (finding,) = warnings({**model("a"), f"a/{name}/model.py": ""})
    assert (finding.code, finding.hint) == ("FL464", hint)
    assert finding.message.startswith(f"Triton ignores the directory '{name}'")
    assert warnings({**model("a"), "a/vocab/words.txt": "", "a/v/a.txt": ""}) == []


class TestAConfigurationInAVersion:
    def test_is_to_be_moved_where_the_model_has_none_and_its_backend_is_unknown(self) -> None:
        (finding,) = errors({"a/1/config.pbtxt": 'backend: "python"\n', "a/1/weights.bin": ""})
        reason = "Triton reads none in a version directory"
        assert (finding.code, finding.hint) == (
            "FL417",
            f"move a/1/config.pbtxt to a/config.pbtxt: {reason}",
        )

    @pytest.mark.parametrize(
        ("files", "hint"),
        [
            (model("a"), "remove a/1/config.pbtxt"),
            ({"a/1/model.py": ""}, "move a/1/config.pbtxt to a/config.pbtxt"),
        ],
    )
    def test_has_no_effect(self, files: dict[str, str], hint: str) -> None:
        ineffective = [
            finding for finding in warnings({**files, "a/1/config.pbtxt": ""}) if finding.code == "FL432"
        ]
        assert [(finding.hint, finding.file and finding.file.name) for finding in ineffective] == [
            (hint, "config.pbtxt")
        ]


def test_a_version_with_a_leading_zero_is_told() -> None:
    (finding,) = warnings({**model("a"), "a/02/model.py": ""})
    assert (finding.code, finding.hint) == ("FL464", "rename it to 2")


def test_a_tensorrt_model_without_a_version_is_told_where_an_onnx_model_would_be_found() -> None:
    (finding,) = errors({"a/config.pbtxt": 'platform: "tensorrt_plan"\n'})
    assert finding.code == "FL404"
    assert finding.hint.startswith("put its plan into a/1/, or have it built from ONNX by `engines`")
    assert finding.hint.endswith("if a.onnx is beside the repository")


def test_an_ensemble_whose_empty_version_was_lost_in_packing_is_refused_with_the_remedy() -> None:
    texts = {path: text for path, text in TWO_ENTRIES.items() if path != "both/1/"}
    (finding,) = errors(texts, NAMED_ENTRY)
    assert finding.code == "FL404"
    assert finding.hint.endswith("put a file into both/1/")


def test_an_empty_version_of_a_folder_is_told_as_git_and_s3_lose_it() -> None:
    (finding,) = plan_load(contents(TWO_ENTRIES, archive=False), NAMED_ENTRY).findings
    assert (finding.code, finding.severity, finding.hint) == (
        "FL463",
        Severity.WARNING,
        "put a file into both/1/, such as a README.md",
    )


def test_a_policy_that_takes_none_of_the_versions_is_refused_at_its_line() -> None:
    findings = errors(model("a", "version_policy { specific { versions: 3 } }\n"))
    assert [(finding.code, finding.line) for finding in findings] == [("FL465", 5)]


def test_a_models_name_is_its_directorys_but_for_the_main_model_of_an_archive() -> None:
    named_model = model("a", 'name: "other"\n')
    (finding,) = errors(named_model)
    assert finding.message == (
        "unexpected directory name 'a' for model 'other', directory name must equal model name"
    )
    assert errors(named_model, MULTI_MODEL) == []
    part = {**ensemble("a"), **named_model}
    assert [finding.code for finding in errors(part, MULTI_MODEL)] == ["FL411"]


def test_a_model_that_nothing_tells_the_backend_of_is_refused() -> None:
    findings = errors({"a/config.pbtxt": "max_batch_size: 1\n", "a/1/weights.bin": ""})
    assert findings[0].message.startswith("Invalid model name: Could not determine backend for model 'a'")


def test_files_that_a_config_names_have_to_lie_in_the_model() -> None:
    files = {**model("a", 'output { name: "z" data_type: TYPE_FP32 dims: 1 label_filename: "labels.txt" }\n')}
    (finding,) = errors(files)
    assert (finding.code, finding.line) == ("FL436", 5)
    assert errors({**files, "a/labels.txt": ""}) == []


def test_of_tensors_of_one_name_the_first_counts_for_the_ensemble_and_all_for_a_part() -> None:
    second = 'input { name: "x" data_type: TYPE_INT32 dims: [ -1 ] }\n'
    pair = TWO_ENTRIES["both/config.pbtxt"]
    assert messages({**TWO_ENTRIES, "both/config.pbtxt": pair + second}) == []
    (message,) = messages({**TWO_ENTRIES, "a/config.pbtxt": TWO_ENTRIES["a/config.pbtxt"] + second})
    assert "inconsistent data type" in message


def test_an_ensemble_with_a_decoupled_part_keeps_no_responses() -> None:
    parts = {**TWO_ENTRIES, **model("a", "model_transaction_policy { decoupled: true }\n")}
    text = TWO_ENTRIES["both/config.pbtxt"] + "response_cache { enable: true }\n"
    (message,) = messages({**parts, "both/config.pbtxt": text})
    assert "Response Cache does not currently support model both with 'decoupled'" in message


def test_a_step_of_a_model_that_is_not_there_is_refused_at_its_line() -> None:
    missing_texts = {path: text for path, text in TWO_ENTRIES.items() if not path.startswith("b/")}
    (finding,) = errors(missing_texts, NAMED_ENTRY)
    assert finding.message == "ensemble both contains models that are not available or ambiguous: b"
    assert (finding.line, finding.hint) == (9, "the repository has a")


def test_a_step_of_a_version_that_is_not_loaded_is_refused() -> None:
    assert messages(replace_in_file("both/config.pbtxt", "model_version: -1", "model_version: 2")) == [
        "ensemble 'both' depends on 'a' whose required version 2 is not loaded.",
        "ensemble 'both' depends on 'b' whose required version 2 is not loaded.",
    ]


def test_a_tensor_of_another_type_is_refused() -> None:
    output = 'output { name: "y" data_type: TYPE_FP32'
    assert messages(replace_in_file("a/config.pbtxt", output, output.replace("FP32", "INT64"))) == [
        "in ensemble both, ensemble tensor between_1: inconsistent data type: TYPE_INT64 is inferred from model a"
        " while TYPE_FP32 is inferred from model b"
    ]


def test_a_tensor_of_another_shape_is_refused_with_the_batch_shown() -> None:
    parts = {
        **replace_in_file("a/config.pbtxt", "[ -1 ] }\n", "[ 3, 4 ] }\n"),
        "both/config.pbtxt": TWO_ENTRIES["both/config.pbtxt"],
    }
    assert (
        "in ensemble both, ensemble tensor x: inconsistent shape: [-1,-1] is inferred from model both while [-1,3,4]"
        " is inferred from model a"
    ) in messages(parts)


def test_a_model_without_a_batch_fits_one_with_a_batch_by_its_full_shape() -> None:
    whole = f'backend: "python"\n{tensors(dims="-1, -1")}'
    assert messages({**TWO_ENTRIES, "a/config.pbtxt": whole}) == []


def test_an_ensemble_takes_no_larger_batches_than_its_parts() -> None:
    assert messages(replace_in_file("b/config.pbtxt", "max_batch_size: 8", "max_batch_size: 2")) == [
        "ensemble both allows maximum batch size 8, but it contains model b which only allows maximum batch size to"
        " be 2"
    ]


def test_inputs_and_outputs_of_a_part_are_mapped_by_their_names() -> None:
    assert messages(replace_in_file("a/config.pbtxt", 'input { name: "x"', 'input { name: "z"')) == [
        "in ensemble both, ensemble tensor x is mapping to non-existing input x in model a",
        "in ensemble both, input z in model a is not mapped to any ensemble tensors",
    ]
    assert messages(replace_in_file("b/config.pbtxt", 'output { name: "y"', 'output { name: "z"')) == [
        "in ensemble both, ensemble tensor y is mapped from non-existing output y in model b"
    ]


def test_an_optional_input_needs_no_tensor() -> None:
    optional = 'input { name: "z" data_type: TYPE_FP32 dims: 1 optional: true }\n'
    assert messages({**TWO_ENTRIES, "a/config.pbtxt": TWO_ENTRIES["a/config.pbtxt"] + optional}) == []


def test_ensembles_that_wait_for_each_other_are_refused() -> None:
    ring = {**ensemble("other"), **ensemble("both", name="other")}
    assert messages(ring) == [
        "circular dependency between ensembles: both -> ... -> other -> both",
        "circular dependency between ensembles: other -> ... -> both -> other",
    ]


def test_a_step_behind_two_decoupled_models_is_refused() -> None:
    decoupled_text = "model_transaction_policy { decoupled: true }\n"
    text = f"""platform: "ensemble"
max_batch_size: 8
{tensors()}ensemble_scheduling {{
  step {{ model_name: "a" model_version: -1 input_map {{ key: "x" value: "x" }} output_map {{ key: "y" value: "one" }} }}
  step {{ model_name: "b" model_version: -1 input_map {{ key: "x" value: "x" }} output_map {{ key: "y" value: "two" }} }}
  step {{ model_name: "c" model_version: -1 input_map {{ key: "x" value: "one" }} input_map {{ key: "w" value: "two" }}
    output_map {{ key: "y" value: "y" }} }}
}}
"""
    c = model("c", 'input { name: "w" data_type: TYPE_FP32 dims: -1 }\n')
    parts = {"both/config.pbtxt": text, "both/1/": "", **model("b", decoupled_text), **c}
    assert messages({**parts, **model("a", decoupled_text)}) == [
        "in ensemble both, step of model 'c' receives inputs originated from different decoupled models"
    ]


def test_a_multi_model_endpoint_does_not_stream() -> None:
    streaming_model = model("a", "model_transaction_policy { decoupled: true }\n")
    assert [finding.code for finding in warnings(streaming_model, MULTI_MODEL)] == ["FL469"]
    assert warnings(streaming_model) == []


@pytest.mark.parametrize("folder", ["+2", "-3", "2-old", "3.0"])
def test_a_folder_that_triton_reads_a_version_from_is_refused_if_it_would_be_loaded(folder: str) -> None:
    files = {**model("a", "version_policy { all { } }\n"), f"a/{folder}/model.py": ""}
    assert [finding.code for finding in errors(files)] == ["FL464"]


def test_the_version_0_is_one() -> None:
    zero = {path.replace("/1/", "/0/"): text for path, text in model("a").items()}
    assert errors(zero) == []
    assert (
        errors(
            {**zero, "a/config.pbtxt": zero["a/config.pbtxt"] + "version_policy { specific { versions: 0 } }"}
        )
        == []
    )


def test_triton_looks_for_the_backends_file_in_the_first_folder_that_there_is() -> None:
    alone = {"a/1/model.py": "class TritonPythonModel:\n  def auto_complete_config(c): ..."}
    assert errors(alone) == []
    findings = errors({**alone, "a/.cache/": ""})
    assert "Could not determine backend" in findings[0].message


def test_a_long_chain_of_ensembles_is_judged() -> None:
    chain = {
        path: text
        for number in range(1200)
        for path, text in ensemble(f"e{number + 1}", name=f"e{number}").items()
    }
    findings = errors({**chain, **model("e1200")}, replace(SINGLE, default_model="e0"))
    assert findings == []


def test_ensembles_that_all_call_the_later_ones_are_judged() -> None:
    names = [f"e{number}" for number in range(40)]
    every = {
        path: text
        for at, name in enumerate(names[:-1])
        for path, text in ensemble(*names[at + 1 :], name=name).items()
    }
    assert errors({**every, **model(names[-1])}, replace(SINGLE, default_model="e0")) == []
