"""Which model of a repository answers, what stays unloaded, and what leaves that to chance."""

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
    warnings,
)
from triton_fleet.repository.loading.load_plan import plan_load
from triton_fleet.repository.loading.models import ServingContainer

TWO_ENTRIES = {**ensemble("a", "b"), **model("a"), **model("b")}
TWO = {**model("a"), **model("b")}
NAMED_ENTRY = replace(SINGLE, default_model="both")


@pytest.mark.parametrize("setting", [SINGLE, MULTI_MODEL], ids=["single", "multi-model"])
def test_the_only_model_answers(setting: ServingContainer) -> None:
    plan = judgement(model("a"), setting)
    assert (plan.main, plan.loaded_models, plan.unloaded_models, plan.findings) == ("a", ("a",), (), ())


@pytest.mark.parametrize("setting", [NAMED_ENTRY, MULTI_MODEL], ids=["single", "multi-model"])
def test_an_ensemble_answers_with_its_composing_models_and_others_stay_unloaded(
    setting: ServingContainer,
) -> None:
    plan = judgement({**TWO_ENTRIES, **model("spare")}, setting)
    assert (plan.main, plan.loaded_models, plan.unloaded_models) == ("both", ("both", "a", "b"), ("spare",))
    assert [(finding.code, finding.file and finding.file.name) for finding in plan.findings] == [
        ("FL461", "spare")
    ]


def test_a_single_container_has_to_be_told_which_of_several_models_answers() -> None:
    (finding,) = warnings(TWO_ENTRIES)
    assert "More than 1 model directory found in model repository" in finding.message
    assert finding.hint == "write `default_model: both` into the endpoint's spec"
    assert "a, b" in errors(TWO)[0].hint


def test_a_default_model_that_is_not_there_ends_a_single_container() -> None:
    (finding,) = errors(model("a"), replace(SINGLE, default_model="b"))
    assert finding.message == "Directory with provided SAGEMAKER_TRITON_DEFAULT_MODEL_NAME b does not exist"


def test_several_models_without_an_ensemble_leave_it_to_chance_in_an_archive() -> None:
    assert [finding.code for finding in errors(TWO, MULTI_MODEL)] == ["FL408"]


def test_two_ensembles_leave_it_to_chance_in_an_archive() -> None:
    nested_files = {**ensemble("inner", name="outer"), **ensemble("a", name="inner"), **model("a")}
    assert [finding.code for finding in errors(nested_files, MULTI_MODEL)] == ["FL409"]
    assert errors(nested_files, replace(SINGLE, default_model="outer")) == []


@pytest.mark.parametrize("written_text", ["platform: 'ensemble'", 'platform : "ensemble"'])
def test_an_ensemble_that_the_containers_expression_misses_is_refused_at_its_line(written_text: str) -> None:
    hidden_values = {
        **TWO_ENTRIES,
        "both/config.pbtxt": TWO_ENTRIES["both/config.pbtxt"].replace('platform: "ensemble"', written_text),
    }
    (finding,) = errors(hidden_values, MULTI_MODEL)
    assert (finding.code, finding.line, finding.hint) == (
        "FL468",
        1,
        'write it literally: `platform: "ensemble"`',
    )
    assert errors(hidden_values, NAMED_ENTRY) == []


def test_a_comment_may_make_the_container_take_a_model_for_an_ensemble() -> None:
    mistaken = {**model("a", '# not platform: "ensemble"\n'), **model("b")}
    plan = judgement(mistaken, MULTI_MODEL)
    assert (plan.main, plan.unloaded_models) == ("a", ("b",))
    assert {finding.code for finding in plan.findings} == {"FL461", "FL468"}


@pytest.mark.parametrize("stray", [".ipynb_checkpoints/", "data/", "__MACOSX/"])
@pytest.mark.parametrize("setting", [SINGLE, MULTI_MODEL], ids=["single", "multi-model"])
def test_a_directory_beside_the_model_is_counted_as_one(stray: str, setting: ServingContainer) -> None:
    (finding,) = errors({**model("a"), stray: ""}, setting)
    assert finding.code == "FL460"
    name = stray.rstrip("/")
    assert f"remove {name}" in finding.hint
    ignores = f"a fleet ignores {name} when it packs the repository"
    assert (ignores in finding.hint) == name.startswith(".")
    reason = "takes any directory" if setting.multi_model else "counts every directory"
    assert reason in finding.hint


def test_files_beside_the_model_do_not_count() -> None:
    assert judgement({**model("a"), "README.md": ""}).findings == ()


def test_a_model_at_the_root_is_taken_by_a_multi_model_container_alone() -> None:
    root = {path.removeprefix("a/"): text for path, text in model("a").items()}
    assert errors(root, MULTI_MODEL) == []
    (finding,) = errors(root)
    assert finding.code == "FL402"
    assert "Incorrect directory structure" in finding.message


@pytest.mark.parametrize("setting", [SINGLE, MULTI_MODEL], ids=["single", "multi-model"])
def test_an_empty_repository_has_no_model(setting: ServingContainer) -> None:
    assert [finding.code for finding in errors({}, setting)] == ["FL407"]


def test_a_folder_above_the_repository_is_named_with_the_folder_that_is_meant() -> None:
    above = {f"models/{path}": text for path, text in model("a").items()}
    (finding,), (folder,) = (
        plan_load(contents(above, archive=item), SINGLE).findings for item in (True, False)
    )
    assert finding.code == folder.code == "FL404"
    assert folder.hint.endswith("repository/models")
    assert "`tar -C models -czf ARCHIVE .`" in finding.hint


def test_of_a_folder_of_repositories_each_is_to_be_named() -> None:
    several = {f"{name}/{path}": text for name in ("one", "two") for path, text in model("a").items()}
    for setting in (SINGLE, MULTI_MODEL):
        (finding,) = errors(several, setting)
        assert (finding.code, finding.hint) == (
            "FL407",
            "name each repository: repository/one, repository/two",
        )


def test_what_is_wrong_with_a_model_that_stays_unloaded_is_only_a_warning() -> None:
    broken_model = model("spare", "instance_group { kind: KIND_CPU gpus: 0 }\n")
    assert errors({**TWO_ENTRIES, **broken_model}, NAMED_ENTRY) == []
    assert "FL425" in {finding.code for finding in warnings({**TWO_ENTRIES, **broken_model}, NAMED_ENTRY)}
    assert "FL425" in {finding.code for finding in errors(broken_model)}


def test_code_of_a_model_at_the_root_is_read_as_well() -> None:
    call = 'pb_utils.InferenceRequest(model_name="gone")'
    root = {path.removeprefix("a/"): text for path, text in model("a", code=call).items()}
    assert [(finding.code, finding.line) for finding in warnings(root, MULTI_MODEL)] == [("FL462", 1)]
    assert "1/" in errors({"config.pbtxt": root["config.pbtxt"]}, MULTI_MODEL)[0].hint
