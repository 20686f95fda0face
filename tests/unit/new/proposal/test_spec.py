"""A spec that is proposed for model repositories passes `fleet check`, and says why each key is as it is."""

from __future__ import annotations

import shutil

import pytest

from tests.support.fleet_folder import ROOT
from tests.support.new_specs import CODE, PROD, NewSpecs
from tests.support.zoo_repositories import copy_repository
from triton_fleet.findings import FindingsError, Severity
from triton_fleet.spec.endpoint import Mode

ON_CPU = "instance_group { kind: KIND_CPU }"
EXAMPLES = {
    "sentence_embeddings/models": "minilm/1/model.onnx",
    "model_zoo/models": "resnet50/resnet50/1/model.onnx",
}
"""Example repositories, each with a file that its script makes."""


@pytest.mark.parametrize("example", EXAMPLES)
def test_of_an_example_it_passes_the_check(new: NewSpecs, example: str) -> None:
    repository = ROOT / "examples" / example
    if not (repository / EXAMPLES[example]).is_file():
        pytest.skip(f"the models of {example} have not been made")
    shutil.copytree(repository, new.models)
    new.text()
    assert new.findings() == []


def test_a_folder_outside_of_the_reviewed_tree_is_refused(new: NewSpecs) -> None:
    new.python("embed")
    outside = new.fleet.root.parent / f"{new.fleet.root.name}-models"
    new.models.rename(outside)
    with pytest.raises(FindingsError) as refusal:
        new.text(outside)
    assert {finding.code for finding in refusal.value.findings} == {"FL471"}


def test_several_repositories_become_the_archives_of_a_multi_model_endpoint(new: NewSpecs) -> None:
    copy_repository(new.models)
    for name in ("inception-v1", "resnet50", "image-classes"):
        (new.models / name).rename(new.fleet.root / name)
    new.python("other_one/classes")
    (new.models / "scripts").mkdir()
    text = new.text()
    spec = new.spec()
    assert (spec.mode, spec.default_model) == (Mode.MULTI_MODEL, None)
    assert [model.archive for model in spec.models] == ["other-one", "top-classes"]
    assert "# other_one cannot be the name of an archive" in text
    assert "Left out, because they contain no model: scripts." in text
    assert new.passes(text)


def test_a_folder_of_one_repository_is_that_repository(new: NewSpecs) -> None:
    new.python("inner/embed")
    new.text()
    assert (new.spec().mode, new.spec().models[0].repository) == (Mode.SINGLE, "../new/inner")


def test_the_repository_is_named_from_the_specs_own_folder(new: NewSpecs) -> None:
    new.onnx("embed")
    assert "  - {archive: fresh, repository: ../new}\n" in new.text()


def test_one_model_needs_no_default_model(new: NewSpecs) -> None:
    new.onnx("embed")
    text = new.text()
    assert new.findings() == []
    assert "default_model" not in text


def test_an_ensemble_answers_in_front_of_its_parts(new: NewSpecs) -> None:
    new.python("first")
    new.onnx("second")
    new.ensemble("all", "first", "second")
    text = new.text()
    assert new.spec().default_model == "all"
    assert "# all calls first, second, and no other model calls it.\n" in text
    assert new.findings() == []


def test_what_code_calls_is_loaded_with_it(new: NewSpecs) -> None:
    call = b'        pb_utils.InferenceRequest(model_name="worker").exec()\n'
    new.python("front", code=CODE.replace(b"        return", call + b"        return"))
    new.onnx("worker")
    new.text()
    assert new.spec().default_model == "front"
    assert new.spec().container.additional_args == ("--load-model=worker",)
    assert new.findings() == []


def test_of_several_models_that_nothing_joins_one_answers_and_the_comment_asks_which(new: NewSpecs) -> None:
    new.python("one")
    new.python("two")
    text = new.text()
    assert new.spec().default_model == "one"
    assert "# Undecided: several of one, two are called by no other model" in text
    assert "unloaded-model (FL461): model 'two' stays unloaded" in text
    assert new.passes(text)


def test_a_shared_container_routes_to_each_model_that_no_other_calls(new: NewSpecs) -> None:
    new.python("left")
    new.onnx("right")
    new.onnx("other")
    new.ensemble("both", "left", "right")
    text = new.text(mode=Mode.SHARED_CONTAINER)
    assert new.spec().routes == {"both": "both", "other": "other"}
    assert "Others call left, right, so callers need no route to them." in new.refusal_text(text)
    assert new.findings() == []


def test_several_repositories_do_not_fit_a_shared_container(new: NewSpecs) -> None:
    new.python("one/left")
    new.python("two/right")
    with pytest.raises(FindingsError, match="FL503: .* is a folder of several repositories, and mode"):
        new.text(mode=Mode.SHARED_CONTAINER)


def test_models_of_the_cpu_alone_get_an_instance_without_a_gpu(new: NewSpecs) -> None:
    new.python("first", ON_CPU)
    new.onnx("second", ON_CPU)
    new.ensemble("all", "first", "second")
    text = new.text()
    spec = new.spec()
    assert spec.instance.type == "ml.c5.large"
    assert spec.scaling is not None
    assert spec.scaling.targets == {"cpu_utilization": 60}
    assert "no model runs on a GPU" in text
    assert "The newest release " in text
    assert new.passes(text)


def test_two_instances_are_scaled_to_four(new: NewSpecs) -> None:
    new.onnx("embed")
    text = new.text()
    spec = new.spec()
    assert spec.scaling is not None
    assert (spec.instance.count, spec.scaling.min, spec.scaling.max) == (2, 2, 4)
    assert spec.scaling.targets == {"gpu_utilization": 60}
    assert "two Availability Zones" in text


def test_weights_take_half_of_the_gpus_memory_at_most(new: NewSpecs) -> None:
    new.onnx("embed")
    with (new.models / "embed/1/weights.bin").open("wb") as file:  # a hole, of which nothing is written
        file.truncate(10 << 30)
    text = new.text()
    assert new.spec().instance.type == "ml.g6.2xlarge"
    assert "Not ml.g4dn.xlarge: weights of 10.0 GiB leave little of its GPU's 15.0 GiB." in new.refusal_text(
        text
    )


def test_a_decoupled_model_is_called_by_generate(new: NewSpecs) -> None:
    new.python("parts", "model_transaction_policy { decoupled: true }")
    new.text()
    assert new.spec().container.inference_type == "generate_stream"
    assert new.findings() == []


def test_a_response_cache_is_given_to_the_server(new: NewSpecs) -> None:
    new.onnx("embed", "response_cache { enable: true }")
    new.text()
    assert new.spec().container.additional_args == ("--cache-config=local,size=104857600",)
    assert new.findings() == []


def test_an_environments_overrides_hold_for_it_already(new: NewSpecs) -> None:
    new.fleet.environment("overrides: {fresh: {scaling: {min: 1}, instance: {count: 1}}}\n")
    new.onnx("embed")
    new.text()
    assert new.spec("dev").instance.count == 1
    assert new.spec("prod").instance.count == 2
    assert new.findings() == []


def test_a_release_without_an_image_in_one_environments_region_is_not_taken(new: NewSpecs) -> None:
    region = PROD.replace("us-west-2", "cn-north-1")
    new.fleet.write("environments/prod.yaml", region)
    new.python("embed", ON_CPU)
    text = new.text()
    assert new.spec().triton == "25.04"
    assert (
        "not 25.09: SageMaker has no image of Triton 25.09 in cn-north-1 (region-without-release, FL202)"
        in new.refusal_text(text)
    )


def test_a_broken_repository_is_refused_in_the_words_of_the_check(new: NewSpecs) -> None:
    new.python("embed", "instance_group { kind: KIND_CPU gpus: 0 }")
    specs = new.fleet.root / "model_specs"
    before = set(specs.iterdir())
    with pytest.raises(FindingsError) as refusal:
        new.text()
    errors = [finding for finding in refusal.value.findings if finding.severity is Severity.ERROR]
    assert [(error.code, error.file) for error in errors] == [("FL425", new.models / "embed/config.pbtxt")]
    assert set(specs.iterdir()) == before


@pytest.mark.parametrize(
    ("path", "code"),
    [("nowhere", "FL401"), ("environments/dev.yaml", "FL401"), ("model_specs", "FL407"), ("new/a", "FL402")],
)
def test_what_is_no_folder_of_repositories_is_refused(new: NewSpecs, path: str, code: str) -> None:
    new.python("a")
    with pytest.raises(FindingsError) as refusal:
        new.text(new.fleet.root / path)
    assert [finding.code for finding in refusal.value.findings] == [code]


def test_a_repository_in_s3_is_to_be_fetched(new: NewSpecs) -> None:
    with pytest.raises(FindingsError, match="FL401: s3://bucket/models/ is in S3"):
        new.text("s3://bucket/models/")
