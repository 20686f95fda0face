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

BOTH = {**ensemble("a", "b"), **model("a"), **model("b")}
TWO = {**model("a"), **model("b")}
NAMED = replace(SINGLE, default_model="both")


@pytest.mark.parametrize("setting", [SINGLE, MULTI_MODEL], ids=["single", "multi-model"])
def test_the_only_model_answers(setting: ServingContainer) -> None:
    found = judgement(model("a"), setting)
    assert (found.main, found.loaded_models, found.unloaded_models, found.findings) == ("a", ("a",), (), ())


@pytest.mark.parametrize("setting", [NAMED, MULTI_MODEL], ids=["single", "multi-model"])
def test_an_ensemble_answers_with_its_composing_models_and_others_stay_unloaded(
    setting: ServingContainer,
) -> None:
    found = judgement({**BOTH, **model("spare")}, setting)
    assert (found.main, found.loaded_models, found.unloaded_models) == (
        "both",
        ("both", "a", "b"),
        ("spare",),
    )
    assert [(each.code, each.file and each.file.name) for each in found.findings] == [("FL461", "spare")]


def test_a_single_container_has_to_be_told_which_of_several_models_answers() -> None:
    (found,) = warnings(BOTH)
    assert "More than 1 model directory found in model repository" in found.message
    assert found.hint == "write `default_model: both` into the endpoint's spec"
    assert "a, b" in errors(TWO)[0].hint


def test_a_default_model_that_is_not_there_ends_a_single_container() -> None:
    (found,) = errors(model("a"), replace(SINGLE, default_model="b"))
    assert found.message == "Directory with provided SAGEMAKER_TRITON_DEFAULT_MODEL_NAME b does not exist"


def test_several_models_without_an_ensemble_leave_it_to_chance_in_an_archive() -> None:
    assert [each.code for each in errors(TWO, MULTI_MODEL)] == ["FL408"]


def test_two_ensembles_leave_it_to_chance_in_an_archive() -> None:
    nested = {**ensemble("inner", name="outer"), **ensemble("a", name="inner"), **model("a")}
    assert [each.code for each in errors(nested, MULTI_MODEL)] == ["FL409"]
    assert errors(nested, replace(SINGLE, default_model="outer")) == []


@pytest.mark.parametrize("written", ["platform: 'ensemble'", 'platform : "ensemble"'])
def test_an_ensemble_that_the_containers_expression_misses_is_refused_at_its_line(written: str) -> None:
    hidden = {**BOTH, "both/config.pbtxt": BOTH["both/config.pbtxt"].replace('platform: "ensemble"', written)}
    (found,) = errors(hidden, MULTI_MODEL)
    assert (found.code, found.line, found.hint) == ("FL468", 1, 'write it literally: `platform: "ensemble"`')
    assert errors(hidden, NAMED) == []


def test_a_comment_may_make_the_container_take_a_model_for_an_ensemble() -> None:
    mistaken = {**model("a", '# not platform: "ensemble"\n'), **model("b")}
    found = judgement(mistaken, MULTI_MODEL)
    assert (found.main, found.unloaded_models) == ("a", ("b",))
    assert {each.code for each in found.findings} == {"FL461", "FL468"}


@pytest.mark.parametrize("stray", [".ipynb_checkpoints/", "data/", "__MACOSX/"])
@pytest.mark.parametrize("setting", [SINGLE, MULTI_MODEL], ids=["single", "multi-model"])
def test_a_directory_beside_the_model_is_counted_as_one(stray: str, setting: ServingContainer) -> None:
    (found,) = errors({**model("a"), stray: ""}, setting)
    assert found.code == "FL460"
    assert stray.rstrip("/") in found.hint


def test_files_beside_the_model_do_not_count() -> None:
    assert judgement({**model("a"), "README.md": ""}).findings == ()


def test_a_model_at_the_root_is_taken_by_a_multi_model_container_alone() -> None:
    root = {path.removeprefix("a/"): text for path, text in model("a").items()}
    assert errors(root, MULTI_MODEL) == []
    (found,) = errors(root)
    assert found.code == "FL402"
    assert "Incorrect directory structure" in found.message


@pytest.mark.parametrize("setting", [SINGLE, MULTI_MODEL], ids=["single", "multi-model"])
def test_an_empty_repository_has_no_model(setting: ServingContainer) -> None:
    assert [each.code for each in errors({}, setting)] == ["FL407"]


def test_a_folder_above_the_repository_is_named_with_the_folder_that_is_meant() -> None:
    above = {f"models/{path}": text for path, text in model("a").items()}
    (packed,), (folder,) = (
        plan_load(contents(above, archive=each), SINGLE).findings for each in (True, False)
    )
    assert packed.code == folder.code == "FL404"
    assert folder.hint.endswith("repository/models")
    assert "`tar -C models -czf ARCHIVE .`" in packed.hint


def test_of_a_folder_of_repositories_each_is_to_be_named() -> None:
    several = {f"{name}/{path}": text for name in ("one", "two") for path, text in model("a").items()}
    for setting in (SINGLE, MULTI_MODEL):
        (found,) = errors(several, setting)
        assert (found.code, found.hint) == ("FL407", "name each repository: repository/one, repository/two")


def test_what_is_wrong_with_a_model_that_stays_unloaded_is_only_a_warning() -> None:
    broken = model("spare", "instance_group { kind: KIND_CPU gpus: 0 }\n")
    assert errors({**BOTH, **broken}, NAMED) == []
    assert "FL425" in {each.code for each in warnings({**BOTH, **broken}, NAMED)}
    assert "FL425" in {each.code for each in errors(broken)}


def test_code_of_a_model_at_the_root_is_read_as_well() -> None:
    call = 'pb_utils.InferenceRequest(model_name="gone")'
    root = {path.removeprefix("a/"): text for path, text in model("a", code=call).items()}
    assert [(each.code, each.line) for each in warnings(root, MULTI_MODEL)] == [("FL462", 1)]
    assert "1/" in errors({"config.pbtxt": root["config.pbtxt"]}, MULTI_MODEL)[0].hint
